import { clientSafeJson, signCompact } from './jws.ts';
import type { Signer } from './p256.ts';

/** Whole numbers are times, lists are audiences. */
export type Claim = string | number | boolean | readonly string[];

/** An ID token of OpenID Connect Core 1.0, section 2. Readers find the key by its id in the issuer's key set. */
export function signIdToken(signer: Signer, keyId: string, claims: Readonly<Record<string, Claim>>): string {
  return signCompact(signer, { alg: 'ES256', typ: 'JWT', kid: keyId }, clientSafeJson(claims), 'once');
}
