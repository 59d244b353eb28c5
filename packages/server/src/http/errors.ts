import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { ApiError, toErrorBody } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import type { App } from '../pipeline/app.ts';

/** What to tell the caller. Anything that is not an ApiError is a bug: it gets an id, and only the log gets the cause. */
export function toApiError(
  app: App,
  operation: string,
  error: unknown,
  bodyLimit: number = LIMITS.defaultBodyBytes,
): ApiError {
  if (error instanceof ApiError) {
    if (error.code === 'UNAVAILABLE') app.observe.unavailable(operation, error.cause);
    return error;
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ApiError(
      'BODY_TOO_LARGE',
      `the body is larger than ${bodyLimit} bytes, which is the limit of this operation`,
    );
  }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH')
    return new ApiError('REQUEST_INVALID', 'the body does not have the declared length');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json');
  if (code === 'ECONNRESET' || code === 'ECONNABORTED')
    return new ApiError('REQUEST_INVALID', 'the request was cut short');
  const errorId = randomUUID();
  app.observe.internalError(errorId, operation, error);
  return new ApiError('INTERNAL', `internal server error (${errorId})`);
}

export function sendError(app: App, reply: FastifyReply, error: ApiError): FastifyReply {
  // Closing on a client that is still sending resets the connection and loses the answer; Node discards the rest instead.
  if (error.code === 'BODY_TOO_LARGE') reply.removeHeader('connection');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  return reply
    .code(error.httpStatus)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(error, app.config.vendorNames)));
}
