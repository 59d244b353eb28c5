import { requireClientSignature } from '../../authn/client-signature.ts';
import type { ClientSignature } from '../../authn/shapes.ts';
import type { DescribeContext, ExecuteContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId, UserId } from '../../lib/ids.ts';
import { normalizeEmail, normalizePhone } from '../users/new-users.ts';
import { type ProvenContact, proves, readProvenContact } from '../users/proven-contact.ts';
import type { RootUserParams } from '../users/shapes/users.ts';
import { TagStore } from '../users/store/tags.ts';
import { pairs } from '../users/user-tags.ts';

interface SignUpParams {
  readonly verificationToken?: string;
  readonly clientSignature?: ClientSignature;
  readonly rootUsers: readonly RootUserParams[];
  readonly takesUnboundTokens?: boolean;
}

/** Somebody who signs up with a contact that a token proves. */
interface SignUp {
  readonly proven: ProvenContact;
  /** Which of the root users has the contact. */
  readonly index: number;
}

/**
 * Whose contact a token proves; who holds the key that it is bound to has signed what that user is to get
 * (protocol/login 5.3).
 */
export async function readSignUp(
  context: DescribeContext,
  { verificationToken, clientSignature, rootUsers, takesUnboundTokens = false }: SignUpParams,
): Promise<SignUp | undefined> {
  if (verificationToken === undefined) return undefined;
  const proven = readProvenContact(context, verificationToken);
  if (proven.token.publicKey === undefined && !takesUnboundTokens) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', 'the verification token must be bound to a key');
  }
  const contacts = rootUsers.map(({ userEmail, userPhoneNumber }) => ({
    email: normalizeEmail(userEmail),
    phone: normalizePhone(userPhoneNumber),
  }));
  const index = contacts.findIndex((contact) => proves(proven, contact));
  const contact = contacts[index];
  const user = rootUsers[index];
  if (contact === undefined || user === undefined) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', 'the verification token is for the contact of no root user');
  }
  await requireClientSignature(proven.token, clientSignature, {
    type: 'USAGE_TYPE_SIGNUP',
    email: contact.email,
    phoneNumber: contact.phone,
    apiKeys: user.apiKeys,
    authenticators: user.authenticators,
    oauthProviders: user.oauthProviders,
  });
  return { proven, index };
}

/** Gives root users the tags that they were asked to have; two of one name share it. */
export async function addTags(
  { store, newId, nowMs }: ExecuteContext,
  organizationId: OrganizationId,
  rootUsers: readonly RootUserParams[],
  userIds: readonly UserId[],
): Promise<void> {
  for (const name of new Set(rootUsers.flatMap(({ userTagName }) => userTagName ?? []))) {
    const tag = { id: newId<'tag'>(), type: 'TAG_TYPE_USER' as const, name, createdAtMs: nowMs, updatedAtMs: nowMs };
    await store(TagStore).insert(organizationId, tag);
    const tagged = userIds.filter((_userId, index) => rootUsers[index]?.userTagName === name);
    await store(TagStore).tagUsers(organizationId, pairs(tagged, [tag.id]));
  }
}
