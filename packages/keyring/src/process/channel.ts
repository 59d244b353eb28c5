import type { KeyringErrorCode } from '../errors.ts';
import type { RingState } from '../keyring.ts';

// How a keyring process is started, and what is said on its channel: SPEC.md, section 8.

/** The descriptor of the first thread's line, behind the standard ones and the channel; the others follow. */
export const FIRST_LINE = 4;

/** What the process is started with, as JSON in its arguments. Nothing of it is secret. */
export interface Settings {
  readonly rootKey: string;
  readonly threads: number;
}

/** What the process is told on the channel, first: to open the ring. It is started before anybody knows this much. */
export interface Order {
  readonly create: boolean;
  /** By which a thread sees that its files are of another version than the service that starts it. */
  readonly methods: readonly string[];
}

/** What it is told when the first thread has much to do: to start the others. */
export interface Wake {
  readonly type: 'wake';
}

export interface Refusal {
  readonly code: KeyringErrorCode;
  readonly message: string;
}

/** What a thread says when it has opened the ring, or could not. */
export type Report =
  | { readonly type: 'opened'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal };

/**
 * What the process says on the channel: `ready` once, or `failed` before its end; then `woken` for each further thread, or
 * `asleep` where one could not be started now.
 */
export type Notice =
  | { readonly type: 'ready'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal }
  | { readonly type: 'woken'; readonly thread: number }
  | { readonly type: 'asleep'; readonly message: string };
