import type { Clock } from '../../lib/clock.ts';
import { sha256Hex } from '../../lib/encoding.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { type Claims, type IdToken, readIdToken, readIssuer, refuseToken, UnknownIssuerError } from './id-token.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { candidates, type IssuerKey, isAcceptedAlgorithm } from './key-set.ts';
import { type OwnIssuer, ownIssuerKeys } from './own-issuer.ts';

export type { IdToken };

/**
 * Whether an issuer may be asked for its keys. A token names its issuer, and anybody can write a token: without this
 * question anybody would choose the addresses that the service calls.
 */
export type MayAsk = (issuer: string) => Promise<boolean>;

/**
 * Verifies ID tokens of OpenID Connect issuers; throws INVALID_OIDC_TOKEN for every other text (protocol/login 7.1),
 * and UnknownIssuerError, without a call, where the issuer may not be asked.
 */
export interface OidcVerifier {
  verify(token: string, mayAsk: MayAsk): Promise<IdToken>;
}

export interface OidcVerifierParts {
  readonly fetch: GuardedFetch;
  readonly clock: Clock;
  readonly elapsed: Clock;
  /** Our own issuer, whose tokens are checked without asking anybody. */
  readonly own?: () => OwnIssuer;
}

interface Header {
  readonly alg: string;
  readonly kid: string | undefined;
}

const TOKEN_LENGTH_MAX = 16 * 1024;
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export function createOidcVerifier({ fetch, clock, elapsed, own }: OidcVerifierParts): OidcVerifier {
  const issuerKeys = createIssuerKeys(fetch, elapsed);

  async function keysFor(issuer: string, { alg, kid }: Header, mayAsk: MayAsk): Promise<readonly IssuerKey[]> {
    const ours = own?.();
    if (ours?.issuer === issuer) return candidates(ownIssuerKeys(ours), alg, kid);
    // Also where the keys are at hand, so that an answer does not tell whom others have logged in with.
    if (!(await mayAsk(issuer))) throw new UnknownIssuerError();
    const found = candidates(await issuerKeys.current(issuer), alg, kid);
    return found.length > 0 ? found : candidates(await issuerKeys.refetched(issuer), alg, kid);
  }

  return {
    async verify(token, mayAsk) {
      if (token.length > TOKEN_LENGTH_MAX) {
        throw refuseToken(`the OIDC token is longer than ${TOKEN_LENGTH_MAX} characters`);
      }
      if (!COMPACT_JWS.test(token))
        throw refuseToken('the OIDC token must be a compact JWT: three parts with dots between');
      const [header = '', payload = ''] = token.split('.');
      const claims = decode(payload, 'claims');
      const protectedHeader = readHeader(decode(header, 'header'));
      const keys = await keysFor(readIssuer(claims), protectedHeader, mayAsk);
      if (keys.length === 0) throw refuseToken('the OIDC token is signed with a key that its issuer does not have');
      await verifySignature(token, protectedHeader.alg, keys);
      return { ...readIdToken(claims, clock()), tokenId: sha256Hex(`${header}.${payload}`) };
    },
  };
}

/** One reading of a part serves every check, and only of text that every decoder reads alike. */
function decode(part: string, name: string): Claims {
  const bytes = Buffer.from(part, 'base64url');
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (bytes.toString('base64url') === part && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Claims;
    }
  } catch {
    // Refused below, like everything else that is no object.
  }
  throw refuseToken(`the ${name} of the OIDC token cannot be read`);
}

function readHeader({ alg, kid, typ, crit }: Claims): Header {
  if (!isAcceptedAlgorithm(alg)) throw refuseToken('the OIDC token is signed with an algorithm that is not accepted');
  if (crit !== undefined) throw refuseToken('the OIDC token demands extensions (crit) that are not supported');
  // RFC 8725, section 3.11: access tokens and others of the same issuer have types of their own.
  if (typ !== undefined && !(typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ))) {
    throw refuseToken('the token is not an ID token: its typ is another');
  }
  if (kid !== undefined && typeof kid !== 'string') throw refuseToken('the header of the OIDC token has no usable kid');
  return { alg, kid };
}

async function verifySignature(token: string, alg: string, keys: readonly IssuerKey[]): Promise<void> {
  const { compactVerify } = await import('jose');
  let failure: unknown;
  for (const { jwk } of keys) {
    try {
      await compactVerify(token, jwk, { algorithms: [alg] });
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw refuseToken('the signature of the OIDC token does not verify', failure);
}
