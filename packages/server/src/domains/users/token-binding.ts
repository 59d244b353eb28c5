import type { IdToken } from '../../authn/oidc/id-token.ts';
import { isBoundToKey } from '../../authn/oidc/nonce.ts';
import { type Actor, publicKeyOf } from '../../core/actor.ts';
import { UsedTokenStore } from '../../core/store/used-tokens.ts';
import type { ExecuteContext } from '../../engine/define.ts';
import { invalidField } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { curveOf } from './new-credentials.ts';
import type { NewProvider } from './new-oauth-providers.ts';
import type { RootUserParams } from './shapes/users.ts';

// An OpenID token passes through pages, logs and servers, and whoever has it can send it. What it registers must be
// worth
// nothing to anybody but the person it is about (docs/decisions/0029).

/** How long after it was issued a token may be added to a user by a key that it is not bound to. */
const FRESH_MS = 10 * 60_000;

/** The contacts of a new user that something else in the request proves. */
export interface ProvenContacts {
  readonly email: boolean;
  readonly phone: boolean;
}

/**
 * A token that is bound to no key of a new user may be stolen: it is taken only where the user gets nothing by which
 * somebody else than the token's owner could come in.
 */
export function requireBoundOrAlone(
  user: RootUserParams,
  providers: readonly NewProvider[],
  proven: ProvenContacts,
): void {
  for (const { token, field } of providers) {
    if (token === undefined || user.apiKeys.some((key) => isBoundToKey(token, curveOf(key), key.publicKey))) continue;
    const besides = waysBeside(user, providers, token, proven);
    if (besides === undefined) continue;
    throw invalidField(
      `${field}.oidcToken`,
      `its nonce matches no API key of this user in the request, so the user cannot also get ${besides}: bind the token to a key of the user, or add the rest after the first login`,
      'INVALID_OIDC_TOKEN',
    );
  }
}

/** What the user would get that the token does not prove to be its owner's. */
function waysBeside(
  { apiKeys, authenticators, userEmail, userPhoneNumber }: RootUserParams,
  providers: readonly NewProvider[],
  token: IdToken,
  proven: ProvenContacts,
): string | undefined {
  if (apiKeys.length > 0) return 'an API key';
  if (authenticators.length > 0) return 'a passkey';
  // Further client ids of the same person are the person's, whoever asks for them. Claims of another person count by
  // the
  // token that has to vouch for them.
  const isAnother = (other: IdToken | undefined): boolean =>
    other !== undefined && (other.issuer !== token.issuer || other.subject !== token.subject);
  if (providers.some((provider) => isAnother(provider.token))) return 'an identity with another iss or sub';
  if (userEmail && !proven.email && !isEmailOf(token, userEmail)) {
    return 'an email that neither it nor a verification token proves';
  }
  if (userPhoneNumber && !proven.phone) return 'a phone number that no verification token proves';
  return undefined;
}

/** Compared without regard to case some unusual characters are ordinary letters, and another's address. */
const isEmailOf = ({ email, emailVerified }: IdToken, text: string): boolean =>
  emailVerified && email?.normalize('NFKC') === email && email?.toLowerCase() === text.toLowerCase();

/** A token that is added to a user is bound to the key that stamps, or new in every sense: fresh, and never used. */
export async function requireOwnOrFresh(
  context: ExecuteContext,
  rootId: OrganizationId,
  providers: readonly NewProvider[],
): Promise<void> {
  const { actor } = context;
  const isOwn = (token: IdToken): boolean => isBoundToStampOf(actor, token);
  await requireFreshUnless(isOwn, 'the key that stamps the request', context, rootId, providers);
}

/**
 * The same for a new user of a sub-organization, whose own keys count. Root users there could otherwise register the
 * identity of anybody whose token they found, and be the quorum over what that person does later. A parent is trusted
 * with its users; the sign-up proxy makes each an organization of its own.
 */
export async function requireOwnOrFreshBelow(
  context: ExecuteContext,
  rootId: OrganizationId,
  { apiKeys }: Pick<RootUserParams, 'apiKeys'>,
  providers: readonly NewProvider[],
): Promise<void> {
  if (context.actor.organizationId === rootId) return;
  const isOwn = (token: IdToken): boolean => apiKeys.some((key) => isBoundToKey(token, curveOf(key), key.publicKey));
  await requireFreshUnless(isOwn, 'an API key of this user in the request', context, rootId, providers);
}

async function requireFreshUnless(
  isOwn: (token: IdToken) => boolean,
  owner: string,
  { store, nowMs }: ExecuteContext,
  rootId: OrganizationId,
  providers: readonly NewProvider[],
): Promise<void> {
  for (const { token, field } of providers) {
    if (token === undefined || isOwn(token)) continue;
    const refuse = (why: string) =>
      invalidField(
        `${field}.oidcToken`,
        `${why}, and its nonce does not match ${owner}: ask its issuer for a new one`,
        'INVALID_OIDC_TOKEN',
      );
    if (token.issuedAtMs === undefined) throw refuse('it does not say when it was issued');
    if (nowMs - token.issuedAtMs >= FRESH_MS) throw refuse('it was issued 10 minutes ago or earlier');
    if (await store(UsedTokenStore).isUsedAtAll(rootId, token.tokenId)) throw refuse('it has been used before');
  }
}

function isBoundToStampOf(actor: Actor, token: IdToken): boolean {
  const publicKey = publicKeyOf(actor);
  if (publicKey === undefined || actor.credential.kind !== 'api-key') return false;
  const { type } = actor.credential.apiKey;
  if (type === 'CREDENTIAL_TYPE_API_KEY_ED25519') return isBoundToKey(token, 'ED25519', publicKey);
  return isBoundToKey(token, type === 'CREDENTIAL_TYPE_API_KEY_SECP256K1' ? 'SECP256K1' : 'P256', publicKey);
}
