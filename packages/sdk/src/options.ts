import type { Stamper } from './stamper.ts';

export interface ClientOptions {
  /** Address of the service, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** The organization that requests name unless a call says otherwise. */
  readonly organizationId: string;
  readonly stamper: Stamper;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Pause between two looks at an activity that is still running; 1000 unless told. */
  readonly pollIntervalMs?: number;
  /** How often to look at an activity that is still running before giving up; 10 unless told. */
  readonly pollAttempts?: number;
  /**
   * How often a request is sent again, byte for byte, when its answer was lost or the service asked to come back later
   * (503 or 429 with Retry-After); 3 unless told.
   */
  readonly retryAttempts?: number;
  /** How long one answer may take; 30 seconds unless told. */
  readonly timeoutMs?: number;
  /** How long a request may take with all that is sent again; 90 seconds unless told, one hour at most. */
  readonly totalTimeoutMs?: number;
}

export interface QueryOptions {
  /** Another organization than the client's, such as a sub-organization. */
  readonly organizationId?: string;
  /**
   * Ends the call, and whatever it waits for, with the signal's reason. What was sent may be carried out all the same.
   */
  readonly signal?: AbortSignal;
}

export interface SubmitOptions extends QueryOptions {
  /**
   * The request's own time in milliseconds. Two requests with the same time and the same content are one activity, so
   * that passing it makes a call safe to repeat, also after a crash.
   */
  readonly timestampMs?: number | string;
  /** Have the service sign what it did: `activity.appProofs`, which `verifyAppProof` checks. */
  readonly generateAppProofs?: boolean;
}

export interface RawOptions {
  readonly signal?: AbortSignal;
}
