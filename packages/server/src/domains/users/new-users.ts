import type { VerifiedAuthenticator } from '../../authn/attestations.ts';
import type { Place } from '../../core/place.ts';
import { TreeStore } from '../../core/store/tree.ts';
import type { ExecuteContext, PrepareContext } from '../../engine/define.ts';
import { firstDuplicate } from '../../lib/collections.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { UserId } from '../../lib/ids.ts';
import { domainOf, requireDomainName } from '../../lib/mail-address.ts';
import {
  type AddContext,
  addApiKeys,
  addAuthenticators,
  checkApiKeys,
  checkAuthenticators,
  verifyAuthenticators,
} from './new-credentials.ts';
import {
  addOauthProviders,
  checkOauthProviders,
  type NewProvider,
  requireFew,
  verifyOauthProviders,
} from './new-oauth-providers.ts';
import type { RootUserParams } from './shapes/users.ts';
import { UserStore } from './store/users.ts';
import { type ProvenContacts, requireBoundOrAlone } from './token-binding.ts';

/** An email address as it is stored: the domain has one spelling, the local part is the receiver's business. */
export function normalizeEmail(email: string | undefined): string | undefined {
  if (email === undefined || email === '') return undefined;
  // Compared without regard to case some unusual characters are ordinary letters, and another's address.
  if (email.normalize('NFKC') !== email) {
    throw new ApiError('INVALID_EMAIL', 'an email address must be in its usual characters');
  }
  const domain = domainOf(email);
  requireDomainName(domain);
  return `${email.slice(0, email.lastIndexOf('@'))}@${domain}`;
}

export const normalizePhone = (phone: string | undefined): string | undefined => (phone === '' ? undefined : phone);

/** The rules on new users that need no database. */
export function checkNewUsers(users: readonly RootUserParams[], field: string): void {
  for (const [index, user] of users.entries()) {
    const at = `${field}.${index}`;
    checkApiKeys(user.apiKeys, `${at}.apiKeys`);
    checkAuthenticators(user.authenticators, `${at}.authenticators`);
    checkOauthProviders(user.oauthProviders, `${at}.oauthProviders`);
    const hasCredential = [user.apiKeys, user.authenticators, user.oauthProviders].some((list) => list.length > 0);
    if (!hasCredential && !user.userEmail && !user.userPhoneNumber) {
      throw invalidField(at, 'a user needs a credential, an email or a phone number');
    }
  }
  requireFew(
    users.flatMap((user) => user.oauthProviders.filter(({ oidcToken }) => oidcToken !== undefined)).length,
    field,
  );
  const emails = users.flatMap((user) => (user.userEmail ? [user.userEmail.toLowerCase()] : []));
  if (firstDuplicate(emails) !== undefined) throw invalidField(field, 'names two users with the same email');
  const phones = users.flatMap((user) => (user.userPhoneNumber ? [user.userPhoneNumber] : []));
  if (firstDuplicate(phones) !== undefined) throw invalidField(field, 'names two users with the same phone number');
}

/** What a new user's credentials were found to be. */
interface VerifiedUser {
  readonly authenticators: readonly VerifiedAuthenticator[];
  readonly oauthProviders: readonly NewProvider[];
}

const NOTHING_PROVEN: ProvenContacts = { email: false, phone: false };

export async function verifyNewUsers(
  context: PrepareContext,
  users: readonly RootUserParams[],
  field: string,
  /** What verification tokens of the request prove of the user at an index. */
  provenOf: (index: number) => ProvenContacts = () => NOTHING_PROVEN,
): Promise<VerifiedUser[]> {
  return await Promise.all(
    users.map(async (user, index) => {
      const [authenticators, oauthProviders] = await Promise.all([
        verifyAuthenticators(context, user.authenticators),
        verifyOauthProviders(context, user.oauthProviders, `${field}.${index}.oauthProviders`),
      ]);
      requireBoundOrAlone(user, oauthProviders, provenOf(index));
      return { authenticators, oauthProviders };
    }),
  );
}

/** Inserts users with their credentials, all or nothing; ids come in the order of the input. */
export async function addUsers(
  context: ExecuteContext,
  place: Place,
  users: readonly RootUserParams[],
  verified: readonly VerifiedUser[],
): Promise<UserId[]> {
  const passkeys = verified.map(({ authenticators }) => authenticators);
  const userIds = await addUsersWithKeys(context, place, users, passkeys);
  for (const [index, userId] of userIds.entries()) {
    await addOauthProviders(context, place, userId, verified[index]?.oauthProviders ?? []);
  }
  return userIds;
}

/** The same without OAuth providers, which only a user who acts can give. */
export async function addUsersWithKeys(
  context: AddContext,
  place: Place,
  users: readonly Omit<RootUserParams, 'oauthProviders'>[],
  passkeys: readonly (readonly VerifiedAuthenticator[])[],
): Promise<UserId[]> {
  const { store, newId, nowMs, config } = context;
  const { organizationId, rootId } = place;
  if (
    config.limitUsers !== undefined &&
    (await store(UserStore).count(organizationId)) + users.length > config.limitUsers
  ) {
    throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${config.limitUsers} users`);
  }
  const rows = users.map((user) => ({
    id: newId<'user'>(),
    name: user.userName,
    email: normalizeEmail(user.userEmail),
    phone: normalizePhone(user.userPhoneNumber),
  }));
  await store(UserStore).insert(organizationId, rows, nowMs);
  for (const [index, user] of users.entries()) {
    const { id, name, email, phone } = rows[index] as (typeof rows)[number];
    await store(TreeStore).add(rootId, organizationId, [
      { kind: 'USERNAME', value: name, ownerId: id },
      ...(email === undefined ? [] : [{ kind: 'EMAIL' as const, value: email, ownerId: id }]),
      ...(phone === undefined ? [] : [{ kind: 'PHONE_NUMBER' as const, value: phone, ownerId: id }]),
    ]);
    await addApiKeys(context, place, id, user.apiKeys);
    await addAuthenticators(context, place, id, user.authenticators, passkeys[index] ?? []);
  }
  return rows.map((row) => row.id);
}
