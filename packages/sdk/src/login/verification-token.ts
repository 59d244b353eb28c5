import { type ServiceKey, trustedKeys } from '../service-keys.ts';
import { invalidToken, isSignedByOne, optionalTextClaim, readToken, textClaim } from './token.ts';

/** What a verification token says: that somebody read a code that was sent to a contact. */
export interface VerificationClaims {
  readonly tokenId: string;
  /** `OTP_TYPE_EMAIL` or `OTP_TYPE_SMS`. */
  readonly verificationType: string;
  readonly contact: string;
  /** The organization that the code was asked for in. */
  readonly organizationId: string;
  /** The key that the token is bound to, compressed hex. Without one, whoever has the token can use it. */
  readonly publicKey?: string;
  readonly expiresAtMs: number;
}

export interface VerifyVerificationTokenOptions {
  /** The `otp` key of the service, pinned. */
  readonly otpPublicKey?: string;
  /** What `fetchServiceKeys` answered, in place of a pinned key. */
  readonly serviceKeys?: readonly ServiceKey[];
  /** Instead of the clock. */
  readonly nowMs?: number;
}

/** What a verification token says, if the service signed it and it still lives; throws `TOKEN_INVALID` if not. */
export async function verifyVerificationToken(
  verificationToken: string,
  options: VerifyVerificationTokenOptions,
): Promise<VerificationClaims> {
  const keys = trustedKeys('otp', 'otpPublicKey', options.otpPublicKey, options.serviceKeys);
  const { claims, signed, signature } = readToken(verificationToken);
  if (!(await isSignedByOne(keys, signature, signed))) {
    throw invalidToken('the verification token is not signed by the service');
  }
  const read = readVerification(claims);
  if (read.expiresAtMs <= (options.nowMs ?? Date.now())) throw invalidToken('the verification token has expired');
  return read;
}

/** Read, not believed: for whoever just got the token and sends it on to be checked. */
export const tokenIdOf = (verificationToken: string): string => textClaim(readToken(verificationToken).claims, 'id');

function readVerification(claims: Readonly<Record<string, unknown>>): VerificationClaims {
  const exp = textClaim(claims, 'exp');
  // Milliseconds as text, unlike in a session (protocol/login 4.1).
  if (!/^[0-9]{1,15}$/.test(exp)) throw invalidToken('the token has no exp');
  const publicKey = optionalTextClaim(claims, 'public_key');
  return {
    tokenId: textClaim(claims, 'id'),
    verificationType: textClaim(claims, 'verification_type'),
    contact: textClaim(claims, 'contact'),
    organizationId: textClaim(claims, 'organization_id'),
    expiresAtMs: Number(exp),
    ...(publicKey !== undefined && { publicKey }),
  };
}
