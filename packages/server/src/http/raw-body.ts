import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';

/** The bytes of a JSON request, untouched. */
export function rawBody(request: FastifyRequest): Uint8Array {
  requireJson(request.headers);
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

export function requireJson(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'];
  if (type !== undefined && type !== 'application/json' && !/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json');
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      'compressed bodies are not accepted: the stamp covers the plain bytes',
    );
  }
}
