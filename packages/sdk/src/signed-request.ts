import { CustosError } from './errors.ts';
import type { SignedRequest } from './signed-request-type.ts';

const PATH = /^\/public\/v1\/(?:submit|query)\/[a-z0-9_]+$/;

/** One that a caller has kept, perhaps as JSON: a stamp must not go anywhere but to an operation. */
export function checkSignedRequest(request: SignedRequest | undefined): SignedRequest {
  const { path, body, headerName, headerValue } = (request ?? {}) as Partial<SignedRequest>;
  const isWhole = [path, body, headerName, headerValue].every((part) => typeof part === 'string');
  if (request !== undefined && isWhole && PATH.test(request.path)) return request;
  throw new CustosError('INVALID_OPTION', 'repeat needs a signed request, such as the request of an error of this SDK');
}
