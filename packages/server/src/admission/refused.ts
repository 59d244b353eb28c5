import { ApiError } from '../lib/errors.ts';

/** `busy`: nobody could be served soon. `share`: others wait, and this caller already has its share of the line. */
export type RefusalReason = 'busy' | 'share';

/** What cannot be served soon is refused at once. Nothing was begun, so the same request may simply be sent again. */
export class Refused extends ApiError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, what: string, retryAfterSeconds: number) {
    // Where it was thrown tells nobody anything, and to write that down costs more than all the rest of a refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(reason === 'share' ? 'RATE_LIMIT_EXCEEDED' : 'UNAVAILABLE', `${what}; try again after Retry-After seconds`, {
      retryAfterSeconds,
    });
    Error.stackTraceLimit = stackTraceLimit;
    this.reason = reason;
  }
}

/** The answer nobody reads: its client went away before the request was begun. */
export class ClientLeft extends ApiError {
  constructor() {
    super('REQUEST_INVALID', 'the client closed the connection before the request was begun');
  }
}

export interface AdmissionObserver {
  refused(stage: string, reason: RefusalReason): void;
  /** A client left before its request was begun. */
  dropped(stage: string): void;
}
