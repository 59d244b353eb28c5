import { ApiError } from '../../lib/errors.ts';

/**
 * `unavailable`: no node answered. `ill-shaped`: what they answered cannot be true, or is not what was asked for.
 * `too-large`: the answer is longer than a node gives or than we take, and less has to be asked for at once.
 */
export type NodeErrorKind = 'unavailable' | 'ill-shaped' | 'too-large';

/** Why there is no answer from the nodes of a chain. The message never holds a URL, only its host. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly kind: NodeErrorKind;

  constructor(kind: NodeErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

const RETRY_AFTER_SECONDS = 1;

/** What a caller of ours is told when a chain's nodes failed; any other error is passed on as it is. */
export function asApiError(error: unknown): unknown {
  if (!(error instanceof NodeError)) return error;
  const message = 'the nodes of this chain give no usable answer right now';
  return new ApiError('RPC_CALL_ERROR', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}
