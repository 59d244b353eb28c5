import type { VerificationToken } from '@custos/keyring';
import { issuersForStrangers } from '../../authn/identity/known-issuers.ts';
import { contactKindOf, requireIssuedFor } from '../../authn/identity/tokens.ts';
import { claimedIdentities } from '../../authn/oidc/claimed-identities.ts';
import { type IdToken, UnknownIssuerError } from '../../authn/oidc/id-token.ts';
import type { OauthIdentity } from '../../core/model.ts';
import { OrganizationReader, organizationNotFound } from '../../core/store/organizations.ts';
import { oidcTreeValue, TreeReader } from '../../core/store/tree.ts';
import { ApiError } from '../../lib/errors.ts';
import { isUuid, type OrganizationId } from '../../lib/ids.ts';
import type { Visit } from './visit.ts';

/** A verification token that this proxy, or its organization, issued. One of a sub-organization counts only there. */
export function readVerification({ app, parent, nowMs }: Visit, text: string): VerificationToken {
  const token = app.tokens.verification(text, nowMs);
  requireIssuedFor(token, parent);
  return token;
}

/** The sub-organization where the contact is a user's proven one. */
export async function holderOfContact(
  { app, parent }: Visit,
  token: VerificationToken,
): Promise<OrganizationId | undefined> {
  const kind = contactKindOf(token) === 'email' ? 'VERIFIED_EMAIL' : 'VERIFIED_PHONE_NUMBER';
  return await app.storage.read(TreeReader).uniqueHolder(parent.id, kind, token.contact);
}

/**
 * A verified OpenID token; undefined, and nobody is called, if its issuer is not one that strangers may bring tokens
 * of.
 */
export async function readOidcToken({ app, parent }: Visit, text: string): Promise<IdToken | undefined> {
  try {
    return await app.tokens.oidc(text, issuersForStrangers(app.storage.read, parent.id));
  } catch (error) {
    if (error instanceof UnknownIssuerError) return undefined;
    throw error;
  }
}

/** The sub-organization of the user who is known to the issuer of the token. */
export async function holderOfToken(visit: Visit, oidcToken: string): Promise<OrganizationId | undefined> {
  const { app, parent } = visit;
  const tree = app.storage.read(TreeReader);
  const find = (identity: OauthIdentity) => tree.uniqueHolder(parent.id, 'OIDC', oidcTreeValue(identity));
  const claimed = await Promise.all(claimedIdentities(oidcToken).map(find));
  // Nobody has it, whether or not it is genuine: no issuer is asked for a stranger's sake.
  if (claimed.every((holder) => holder === undefined)) return undefined;
  const token = await readOidcToken(visit, oidcToken);
  return token && (await find(token));
}

/** Where a login takes place: the sub-organization that is named, or else the one that `find` finds. */
export async function organizationOfLogin(
  { app, parent }: Visit,
  named: string | undefined,
  find: () => Promise<OrganizationId | undefined>,
): Promise<OrganizationId> {
  // Clients that know only the parent name it.
  if (!named || named === parent.id) {
    const found = await find();
    if (found !== undefined) return found;
    throw new ApiError('RESOURCE_NOT_FOUND', 'there is no account for this login yet');
  }
  const organization = isUuid(named)
    ? await app.storage.read(OrganizationReader).find(named as OrganizationId)
    : undefined;
  if (organization?.parentId !== parent.id || organization.deletedAtMs !== undefined) throw organizationNotFound();
  return organization.id;
}
