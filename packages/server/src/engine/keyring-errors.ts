import { KeyringError } from '@custos/keyring';
import { asApiError } from '../chains/nodes/node-error.ts';
import { ApiError } from '../lib/errors.ts';

/**
 * Runs what uses keys or chains; a refusal by the keyring or a chain that is away becomes the caller's answer, a
 * mistake of ours stays one.
 */
export async function withKeyringErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KeyringError ? translate(error) : asApiError(error);
  }
}

function translate(error: KeyringError): unknown {
  switch (error.code) {
    case 'UNAVAILABLE':
      return new ApiError('UNAVAILABLE', `the keyring is not available: ${error.message}`, {
        retryAfterSeconds: 1,
        cause: error,
      });
    case 'TOO_MANY_EXPORTS':
    case 'TOO_MANY_IMPORTS':
      return new ApiError('RATE_LIMIT_EXCEEDED', error.message, {
        retryAfterSeconds: error.retryAfterSeconds ?? 60,
        cause: error,
      });
    case 'TOO_MANY_EXPORTS_AT_ONCE':
    case 'TOO_MANY_IMPORTS_AT_ONCE':
      return new ApiError('FAILED_PRECONDITION', error.message, { cause: error });
    // A rotation that this machine's ring has not caught up with.
    case 'UNKNOWN_ROOT_KEY':
      return new ApiError('UNAVAILABLE', 'the keyring is not available', { retryAfterSeconds: 1, cause: error });
    case 'INVALID_MNEMONIC':
    case 'INVALID_BUNDLE':
    case 'INVALID_KEY':
      return new ApiError('INVALID_BUNDLE', error.message, { cause: error });
    default:
      return error;
  }
}
