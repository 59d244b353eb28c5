import { ApiError } from '../lib/errors.ts';
import type { App } from './app.ts';
import type { RawRequest } from './request.ts';

/** Counts a failed authentication against the caller's address; a success passes untouched. */
export async function guardAuthentication<T>(
  app: App,
  request: RawRequest,
  authenticate: () => Promise<T>,
): Promise<T> {
  try {
    return await authenticate();
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 401)
      throw app.failedAuth.decide(request.clientAddress ?? '', error);
    throw error;
  }
}
