import type { Claim } from '../bundle/id-token.ts';
import type { Session, SessionProfile } from '../bundle/session-jwt.ts';
import type { VerificationToken } from '../bundle/verification-token.ts';
import { invalid } from '../derive/check.ts';
import { bytesOf, listOf, membersOf, nonEmptyOf, textOf } from './shape.ts';

// What the service's own keys sign.

const PROOF_LENGTH_MAX = 1024 * 1024;
const SCOPE_LENGTH_MAX = 64 * 1024;
const CLAIMS_MAX = 32;
const CLAIM_LIST_MAX = 16;
/** Of all claims as JSON. An encrypted bearer token, the longest, has less than 3000 characters. */
const CLAIMS_LENGTH_MAX = 16 * 1024;

export function checkProofPayload(payload: unknown): string {
  return textOf(payload, 'the payload', PROOF_LENGTH_MAX);
}

/** Its expiry and whether its key is a point are checked where it is signed. */
export function checkSession(session: unknown): Session {
  const { expiresAtSeconds, publicKey, userId, organizationId, profile } = membersOf<Session>(session, 'the session');
  return {
    expiresAtSeconds: expiresAtSeconds as number,
    publicKey: bytesOf(publicKey, 'publicKey'),
    userId: nonEmptyOf(userId, 'userId'),
    organizationId: nonEmptyOf(organizationId, 'organizationId'),
    ...(profile !== undefined && { profile: checkSessionProfile(profile) }),
  };
}

/** As for a session. */
export function checkVerificationToken(token: unknown): VerificationToken {
  const { id, verificationType, contact, organizationId, expiresAtMs, publicKey } = membersOf<VerificationToken>(
    token,
    'the token',
  );
  return {
    id: nonEmptyOf(id, 'id'),
    verificationType: nonEmptyOf(verificationType, 'verificationType'),
    contact: nonEmptyOf(contact, 'contact'),
    organizationId: nonEmptyOf(organizationId, 'organizationId'),
    expiresAtMs: expiresAtMs as number,
    ...(publicKey !== undefined && { publicKey: bytesOf(publicKey, 'publicKey') }),
  };
}

export function checkClaims(claims: unknown): Record<string, Claim> {
  const entries = Array.isArray(claims) ? [] : Object.entries(membersOf<object>(claims, 'claims'));
  if (entries.length === 0 || entries.length > CLAIMS_MAX) throw invalid(`claims are an object of 1 to ${CLAIMS_MAX}`);
  const known = Object.fromEntries(entries.map(([name, value]) => [nonEmptyOf(name, 'a claim'), checkClaim(value)]));
  if (JSON.stringify(known).length > CLAIMS_LENGTH_MAX) {
    throw invalid(`claims are longer than ${CLAIMS_LENGTH_MAX} characters`);
  }
  return known;
}

function checkSessionProfile(profile: unknown): SessionProfile {
  const { id, name, scope } = membersOf<SessionProfile>(profile, 'the profile');
  return {
    id: nonEmptyOf(id, 'the id of the profile'),
    name: nonEmptyOf(name, 'the name of the profile'),
    scope: textOf(scope, 'the scope', SCOPE_LENGTH_MAX),
  };
}

function checkClaim(value: unknown): Claim {
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return value as boolean | number;
  if (!Array.isArray(value)) return textOf(value, 'a claim', CLAIMS_LENGTH_MAX);
  return listOf(value, 'a claim', 1, CLAIM_LIST_MAX).map((text) => textOf(text, 'a claim', CLAIMS_LENGTH_MAX));
}
