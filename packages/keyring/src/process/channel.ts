import type { KeyringErrorCode } from '../errors.ts';
import type { RingState } from '../keyring.ts';
import type { KeyringLimits, Transfers } from '../transfers/limits.ts';

// How a keyring process is started, and what is said on its channel: SPEC.md, section 8.

/** The descriptor of the first thread's line, behind the standard ones and the channel; the others follow. */
export const FIRST_LINE = 4;

/** What the process is started with, as JSON in its arguments. Nothing of it is secret. */
export interface Settings extends KeyringLimits {
  readonly rootKey: string;
  readonly threads: number;
  /** Set where the process that starts this one counts the exports and imports of several. */
  readonly asksForTransfers?: boolean | undefined;
  /** Set where that process also makes changes of the ring durable; where it is absent, the service does. */
  readonly asksForSync?: boolean | undefined;
  /** Set for a service, whose line has no administration of the ring. */
  readonly refusesAdministration?: boolean | undefined;
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

/** What it says about exports or imports that it may not decide itself; so does a thread to the first one. */
export interface TransferNotice {
  readonly type: 'transfer';
  readonly id: number;
  readonly wanted: Transfers;
}

/** What it is told about exports or imports that it has asked for. */
export interface TransferAnswer {
  readonly type: 'admitted';
  readonly id: number;
  /** Absent when they may be made. */
  readonly refusal?: Refusal;
}

/** What it is told when the change of the ring that it has named is durable. */
export interface SyncAnswer {
  readonly type: 'synced';
}

export interface Refusal {
  readonly code: KeyringErrorCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** What a thread says when it has opened the ring, or could not. */
export type Report =
  | { readonly type: 'opened'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal };

/**
 * What the process says on the channel: `ready` once, or `failed` before its end; then `woken` for each further thread, or
 * `asleep` where one could not be started now; `transfer` for what it may not decide itself; and `changed` when it wrote the
 * ring, whose folder it may not open.
 */
export type Notice =
  | { readonly type: 'ready'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal }
  | { readonly type: 'woken'; readonly thread: number }
  | { readonly type: 'asleep'; readonly message: string }
  | TransferNotice
  | { readonly type: 'changed' };
