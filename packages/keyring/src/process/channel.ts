import type { KeyringErrorCode } from '../errors.ts';
import type { RingState } from '../keyring.ts';

// How a keyring process is started and what it says on its channel: SPEC.md, section 8. The thread that only starts the
// others loads this and nothing that knows the calls.

/** The descriptor of the first thread's line, behind the standard ones and the channel; the others follow. */
export const FIRST_LINE = 4;

/** What the process is started with, as JSON in its arguments. Nothing of it is secret. */
export interface Settings {
  readonly rootKey: string;
  readonly create: boolean;
  readonly threads: number;
  /** By which a thread sees that its files are of another version than the service that starts it. */
  readonly methods: readonly string[];
}

export interface Refusal {
  readonly code: KeyringErrorCode;
  readonly message: string;
}

/** What the process says on the channel: `ready` once, or `failed` before its end. */
export type Notice =
  | { readonly type: 'ready'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal };
