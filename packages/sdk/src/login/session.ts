import { sha256 } from '../bytes.ts';
import { type ServiceKey, trustedKeys } from '../service-keys.ts';
import { invalidToken, isSignedByOne, optionalTextClaim, readToken, textClaim } from './token.ts';

/** What a session says about a login. It informs: only stamps of its key authenticate. */
export interface SessionClaims {
  /** The organization of the user, which is what later requests name. */
  readonly organizationId: string;
  readonly userId: string;
  /** The session key, compressed hex. */
  readonly publicKey: string;
  /** `SESSION_TYPE_READ_WRITE`, or the name of the session profile. */
  readonly sessionType: string;
  readonly expiresAtMs: number;
  readonly sessionProfileId?: string;
  /** What the session may do, in the policy language. */
  readonly scope?: string;
}

export interface VerifySessionOptions {
  /** The `session-signer` of the service, pinned. */
  readonly sessionSigner?: string;
  /** What `fetchServiceKeys` answered, in place of a pinned key. */
  readonly serviceKeys?: readonly ServiceKey[];
  /** Instead of the clock. */
  readonly nowMs?: number;
}

/** What the `session` of a login says, if the service signed it and it has not ended; throws `TOKEN_INVALID` if not. */
export async function verifySession(session: string, options: VerifySessionOptions): Promise<SessionClaims> {
  const keys = trustedKeys('session-signer', 'sessionSigner', options.sessionSigner, options.serviceKeys);
  const { claims, signed, signature } = readToken(session);
  // Clients of this protocol hash twice (protocol/login 1.7); a signature over a single hash is another program's.
  if (!(await isSignedByOne(keys, signature, await sha256(signed)))) {
    throw invalidToken('the session is not signed by the service');
  }
  const read = readSession(claims);
  if (read.expiresAtMs <= (options.nowMs ?? Date.now())) throw invalidToken('the session has ended');
  return read;
}

function readSession(claims: Readonly<Record<string, unknown>>): SessionClaims {
  const { exp } = claims;
  if (typeof exp !== 'number' || !Number.isSafeInteger(exp)) throw invalidToken('the token has no exp');
  const sessionProfileId = optionalTextClaim(claims, 'session_profile_id');
  const { scope } = claims;
  return {
    organizationId: textClaim(claims, 'organization_id'),
    userId: textClaim(claims, 'user_id'),
    publicKey: textClaim(claims, 'public_key'),
    sessionType: textClaim(claims, 'session_type'),
    expiresAtMs: exp * 1000,
    ...(sessionProfileId !== undefined && { sessionProfileId }),
    ...(typeof scope === 'string' && { scope }),
  };
}
