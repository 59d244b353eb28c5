/** Why a request that we sent, or would not send, has no answer. */
export type OutboundReason =
  | 'bad-url'
  | 'forbidden-address'
  | 'unresolved'
  | 'timeout'
  | 'too-large'
  | 'network'
  | 'tls';

/**
 * Never shown to a caller as it is: the message is for the log, and the cause may name an address of our network. Only
 * the message of `bad-url` speaks of nothing but the URL that the caller gave.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
