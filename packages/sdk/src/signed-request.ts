import { CustosError } from './errors.ts';

/**
 * A request as it was stamped. Sent again it is the same request: the service finds the activity that it made, so it
 * never becomes a second one. It holds no key, but its body may hold secrets, such as a one-time code; keep it as such.
 */
export interface SignedRequest {
  /** Behind the address of the service. */
  readonly path: string;
  readonly body: string;
  /** The name and the value of the header that holds the stamp. */
  readonly headerName: string;
  readonly headerValue: string;
}

const PATH = /^\/public\/v1\/(?:submit|query)\/[a-z0-9_]+$/;

/** One that a caller has kept, perhaps as JSON: a stamp must not go anywhere but to an operation. */
export function checkSignedRequest(request: SignedRequest | undefined): SignedRequest {
  const { path, body, headerName, headerValue } = (request ?? {}) as Partial<SignedRequest>;
  const isWhole = [path, body, headerName, headerValue].every((part) => typeof part === 'string');
  if (request !== undefined && isWhole && PATH.test(request.path)) return request;
  throw new CustosError('INVALID_OPTION', 'repeat needs a signed request, such as the request of an error of this SDK');
}
