import { isOfParent } from '../../authn/identity/known-issuers.ts';
import { type IdToken, readIssuer } from '../../authn/oidc/id-token.ts';
import { useOidcToken } from '../../authn/oidc/token-uses.ts';
import type { OauthIdentity, OauthProvider } from '../../core/model.ts';
import type { Place } from '../../core/place.ts';
import { OauthClients, TreeTrust } from '../../core/rules.ts';
import { oidcTreeValue, TreeStore } from '../../core/store/tree.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import type { OauthProviderParams } from './shapes/credentials.ts';
import { linkEmail } from './social-linking.ts';
import { OauthStore } from './store/oauth.ts';

/** Of one request: each may ask another issuer for its keys. */
const TOKENS_MAX = 100;
/** Longer ones are in no token that is accepted. */
const AUDIENCE_LENGTH_MAX = 255;

/** A provider as it was asked for, with who it names; the token if there is one to prove it. */
export interface NewProvider {
  readonly name: string;
  readonly identity: OauthIdentity;
  readonly token: IdToken | undefined;
  readonly field: string;
}

/** The rules on new providers that need no issuer and no database. */
export function checkOauthProviders(providers: readonly OauthProviderParams[], field: string): void {
  for (const [index, { oidcToken, oidcClaims }] of providers.entries()) {
    if ((oidcToken === undefined) === (oidcClaims === undefined)) {
      throw invalidField(`${field}.${index}`, 'give either oidcToken or oidcClaims');
    }
    if (oidcClaims !== undefined) identityOf(oidcClaims, `${field}.${index}.oidcClaims`);
  }
  requireFew(providers.filter(({ oidcToken }) => oidcToken !== undefined).length, field);
}

export function requireFew(tokens: number, field: string): void {
  if (tokens > TOKENS_MAX) throw invalidField(field, `can have at most ${TOKENS_MAX} tokens in one request`);
}

/** Who the providers name. Tokens are verified; whether claims are proven shows with what the user has already. */
export async function verifyOauthProviders(
  { tokens }: Pick<PrepareContext, 'tokens'>,
  providers: readonly OauthProviderParams[],
  field: string,
): Promise<NewProvider[]> {
  const verified: NewProvider[] = [];
  // One after the other: the first that is refused ends it, and no further issuer is asked.
  for (const [index, { providerName: name, oidcToken, oidcClaims }] of providers.entries()) {
    const at = `${field}.${index}`;
    const token = oidcClaims === undefined ? await tokens.oidc(oidcToken ?? '') : undefined;
    const identity = oidcClaims === undefined ? token : identityOf(oidcClaims, `${at}.oidcClaims`);
    verified.push({ name, identity: identity as OauthIdentity, token, field: at });
  }
  return verified;
}

/** Registers identities for a user whose row the transaction holds. */
export async function addOauthProviders(
  context: ExecuteContext,
  place: Place,
  userId: UserId,
  added: readonly NewProvider[],
): Promise<OauthProvider[]> {
  if (added.length === 0) return [];
  const { store, newId, nowMs, config } = context;
  const { organizationId, rootId } = place;
  const existing = await store(OauthStore).providersOfUser(organizationId, userId);
  requireProven(added, existing, await trustedAudiences(context, rootId));
  const { limitOauthProviders: limit } = config;
  if (limit !== undefined && existing.length + added.length > limit) {
    throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `a user can have at most ${limit} OAuth providers`);
  }
  const rows = added.map(({ name, identity: { issuer, subject, audience } }): OauthProvider => {
    return { id: newId(), userId, name, issuer, subject, audience, createdAtMs: nowMs, updatedAtMs: nowMs };
  });
  for (const row of rows) {
    // Found through the parent, an identity must lead to one user (protocol/stamps 7.3).
    const entry = { kind: 'OIDC' as const, value: oidcTreeValue(row), ownerId: row.id };
    if (!(await store(TreeStore).claim(rootId, organizationId, entry))) {
      throw new ApiError(
        'OAUTH_PROVIDER_ALREADY_EXISTS',
        'an OAuth provider with this issuer, subject and audience already exists',
      );
    }
  }
  await store(OauthStore).insertProviders(organizationId, rows);
  for (const { token } of added) {
    if (token === undefined) continue;
    await useOidcToken(context, rootId, token, 'register');
    await linkEmail(context, place, userId, token);
  }
  return rows;
}

/**
 * Whose tokens can vouch for claims. An issuer names a person alike to all its clients, and anybody can be a client: a
 * token for a client of the attacker's own would prove that the victim is the attacker. So only clients count that the
 * parent knows; its own backend may know more.
 */
async function trustedAudiences(
  { store, actor }: ExecuteContext,
  rootId: OrganizationId,
): Promise<(audience: string) => boolean> {
  const proxy = await store(TreeTrust).ofOrganization(rootId);
  if (isOfParent(actor, rootId, proxy)) return () => true;
  const kit = proxy?.settings.walletKitSettings?.oauthClientIds;
  const known = new Set([
    ...(proxy?.settings.socialLinkingClientIds ?? []),
    ...Object.values((kit ?? {}) as Record<string, string>),
  ]);
  for (const { clientId } of await store(OauthClients).allCredentials(rootId)) known.add(clientId);
  return (audience) => known.has(audience);
}

/**
 * Claims alone prove nothing: the same person must be proven by a token beside them, or have been before
 * (protocol/login 7.7), and by one for a client of this application (docs/decisions/0019-who-vouches-for-claims.md).
 */
function requireProven(
  added: readonly NewProvider[],
  existing: readonly OauthIdentity[],
  isTrusted: (audience: string) => boolean,
): void {
  const proven = [
    ...existing,
    ...added.flatMap(({ token, identity }) => (token === undefined ? [] : [identity])),
  ].filter(({ audience }) => isTrusted(audience));
  for (const { identity, token, field } of added) {
    const { issuer, subject } = identity;
    if (token === undefined && !proven.some((known) => known.issuer === issuer && known.subject === subject)) {
      throw invalidField(
        `${field}.oidcClaims`,
        'needs an oidcToken of the same iss and sub in this request, or a provider of the user that has them, for a client id that the configuration of the sign-up proxy or an OAuth 2.0 credential names',
      );
    }
  }
}

function identityOf({ iss, sub, aud }: { iss: string; sub: string; aud: string }, field: string): OauthIdentity {
  if (sub === '') throw invalidField(`${field}.sub`, 'must not be empty');
  if (aud === '' || aud.length > AUDIENCE_LENGTH_MAX) {
    throw invalidField(`${field}.aud`, `must be 1 to ${AUDIENCE_LENGTH_MAX} characters`);
  }
  try {
    return { issuer: readIssuer({ iss }), subject: sub, audience: aud };
  } catch {
    throw invalidField(`${field}.iss`, 'must be an http or https URL without a query or a fragment');
  }
}
