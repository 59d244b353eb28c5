import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Refused } from '../admission/refused.ts';
import type { App } from '../engine/app.ts';
import { ApiError, toErrorBody } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';

/**
 * What to tell the caller. Anything that is not an ApiError is a bug: it gets an id, and only the log gets the cause.
 */
export function toApiError(
  app: App,
  operation: string,
  error: unknown,
  bodyLimit: number = LIMITS.defaultBodyBytes,
): ApiError {
  if (error instanceof ApiError) {
    // Admission counts its own, of which there may be thousands in a second.
    if (error.code === 'UNAVAILABLE' && !(error instanceof Refused)) app.observe.unavailable(operation, error.cause);
    return error;
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(bodyLimit);
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

export const bodyTooLarge = (bodyLimit: number): ApiError =>
  new ApiError('BODY_TOO_LARGE', `the body is larger than ${bodyLimit} bytes, which is the limit of this operation`);

export function sendError(app: App, reply: FastifyReply, error: ApiError): FastifyReply {
  // Closing on a client that is still sending resets the connection and loses the answer; Node discards the rest
  // instead.
  if (error.code === 'BODY_TOO_LARGE') reply.removeHeader('connection');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  return reply
    .code(error.httpStatus)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(error, app.config.vendorNames)));
}

/** A whole response, for where no route can answer; the connection ends with it. */
export function errorResponse(error: ApiError, reason: string, vendorNames: boolean): string {
  const body = JSON.stringify(toErrorBody(error, vendorNames));
  const retry = error.retryAfterSeconds === undefined ? '' : `retry-after: ${error.retryAfterSeconds}\r\n`;
  return `HTTP/1.1 ${error.httpStatus} ${reason}\r\ncontent-type: application/json; charset=utf-8\r\n${retry}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
}
