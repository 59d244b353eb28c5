import type { OauthIdentity } from '../../core/model.ts';
import { readIssuer, refuseToken } from './id-token.ts';

const TOKEN_LENGTH_MAX = 16 * 1024;
const AUDIENCES_MAX = 10;

/**
 * Who a token says it is about, unverified. Anybody can write a token that names any issuer: where nobody has such an
 * identity, there is no reason to ask that issuer for its keys.
 */
export function claimedIdentities(token: string): OauthIdentity[] {
  const claims = claimsOf(token);
  const issuer = readIssuer(claims);
  const { sub: subject, aud, azp } = claims;
  if (typeof subject !== 'string') throw refuseToken('the OIDC token has no sub');
  const named = [...(Array.isArray(aud) ? aud.slice(0, AUDIENCES_MAX) : [aud]), azp];
  const audiences = new Set(named.filter((each) => typeof each === 'string'));
  return [...audiences].map((audience) => ({ issuer, subject, audience }));
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, payload, , ...more] = token.length > TOKEN_LENGTH_MAX ? [] : token.split('.');
  if (payload === undefined || more.length > 0) throw refuseToken('the OIDC token is not a signed JWT');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) {
      return claims as Readonly<Record<string, unknown>>;
    }
  } catch {
    // Refused below.
  }
  throw refuseToken('the OIDC token is not a signed JWT');
}
