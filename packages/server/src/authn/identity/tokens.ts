import { KeyringError, type VerificationToken, verifyVerificationToken } from '@custos/keyring';
import type { Organization } from '../../core/model.ts';
import { CLOCK_TOLERANCE_MS } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { madeAtMs, type OrganizationId } from '../../lib/ids.ts';
import { lruCache } from '../../lib/lru.ts';
import type { Fence } from '../../storage/fence.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { CLOCK_LEEWAY_MS } from '../oidc/id-token.ts';
import type { IdToken, MayAsk, OidcVerifier } from '../oidc/verifier.ts';

/**
 * Tokens that say who somebody is. They are only read here; what a token may be used for is decided where it is used.
 */
export interface IdentityTokens {
  /** A token of ours that says that somebody read a code sent to a contact. */
  verification(text: string, nowMs: number): VerificationToken;
  /** A token of an OpenID issuer, checked against the issuer's keys. */
  oidc(text: string): Promise<IdToken>;
  /** Refuses a code that was sent before the database was restored: it may have been used since. */
  requireNewCode(createdAtMs: number): void;
}

/** The same for any caller: which issuers may be asked depends on who brings the token (identity/known-issuers.ts). */
export interface TokenReader extends Omit<IdentityTokens, 'oidc'> {
  oidc(text: string, mayAsk: MayAsk): Promise<IdToken>;
}

/** Tokens as one caller may have them checked. */
export const tokensFor = (reader: TokenReader, mayAsk: MayAsk): IdentityTokens => ({
  verification: (text, nowMs) => reader.verification(text, nowMs),
  oidc: (text) => reader.oidc(text, mayAsk),
  requireNewCode: (createdAtMs) => reader.requireNewCode(createdAtMs),
});

/** One login reads its token several times (docs/decisions/0055). */
const VERIFIED_MAX = 1000;

/** What is issued while a database is restored is refused with what was issued before: nothing but the fence forgets no use. */
export function createIdentityTokens(
  serviceKeys: () => readonly ServiceKey[],
  oidc: OidcVerifier,
  fence: Pick<Fence, 'requireNew'>,
): TokenReader {
  let trusted: readonly ServiceKey[] | undefined;
  let keys: readonly Uint8Array[] = [];
  let verified = lruCache<VerificationToken>(VERIFIED_MAX);
  /** Another list of keys may lack the one that signed a remembered token. */
  const followKeys = (): void => {
    const current = serviceKeys();
    if (current === trusted) return;
    trusted = current;
    keys = current.filter(({ role }) => role === 'otp').map(({ publicKey }) => Buffer.from(publicKey, 'hex'));
    verified = lruCache<VerificationToken>(VERIFIED_MAX);
  };
  const requireNew = (token: VerificationToken): VerificationToken => {
    fence.requireNew('the verification token', madeAtMs(token.id), CLOCK_TOLERANCE_MS);
    return token;
  };
  return {
    verification(text, nowMs) {
      followKeys();
      // Who signed the text does not change; whether its time is over is asked each time.
      const known = verified.get(text);
      if (known !== undefined && known.expiresAtMs > nowMs) return requireNew(known);
      let refusal: KeyringError | undefined;
      for (const key of keys) {
        try {
          const token = verifyVerificationToken(key, text, nowMs);
          verified.set(text, token);
          return requireNew(token);
        } catch (error) {
          if (!(error instanceof KeyringError)) throw error;
          refusal = error;
        }
      }
      throw new ApiError('INVALID_VERIFICATION_TOKEN', refusal?.message ?? 'the verification token is not valid');
    },
    async oidc(text, mayAsk) {
      const token = await oidc.verify(text, mayAsk);
      fence.requireNew('the OIDC token', token.issuedAtMs, CLOCK_LEEWAY_MS);
      return token;
    },
    requireNewCode: (createdAtMs) => fence.requireNew('the one-time code', createdAtMs),
  };
}

/** The same tokens, each checked once: what was verified before a transaction is not fetched for again inside it. */
export function remembering(tokens: IdentityTokens): IdentityTokens {
  const known = new Map<string, Promise<IdToken>>();
  return {
    verification: (text, nowMs) => tokens.verification(text, nowMs),
    oidc: (text) => {
      const before = known.get(text);
      if (before !== undefined) return before;
      const verified = tokens.oidc(text);
      known.set(text, verified);
      return verified;
    },
    requireNewCode: (createdAtMs) => tokens.requireNewCode(createdAtMs),
  };
}

/** Where a token may be used: a parent's in its whole tree, a sub-organization's there alone (protocol/login 4.2). */
export function requireIssuedFor(token: VerificationToken, organization: Organization): void {
  if (token.organizationId === organization.id || token.organizationId === organization.parentId) return;
  throw new ApiError('INVALID_VERIFICATION_TOKEN', 'the verification token was issued for another organization');
}

/** What a verification token proves, as a user's record names it. */
export const contactKindOf = ({ verificationType }: VerificationToken): 'email' | 'phone' =>
  verificationType === 'OTP_TYPE_EMAIL' ? 'email' : 'phone';

/** One use of a token. */
export interface TokenUse {
  /** Whose token it is. */
  readonly issuerId: OrganizationId;
  readonly tokenId: string;
  readonly expiresAtMs: number;
}

export const useOf = ({ organizationId, id, expiresAtMs }: VerificationToken): TokenUse => ({
  issuerId: organizationId as OrganizationId,
  tokenId: id,
  expiresAtMs,
});
