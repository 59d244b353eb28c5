import type { Place } from '../../core/place.ts';
import { TreeStore } from '../../core/store/tree.ts';
import type { DescribeContext } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import type { Stores } from '../../storage/stores.ts';
import { type ProvenContact, proves, readProvenContact } from './proven-contact.ts';
import { UserStore } from './store/users.ts';

/**
 * What a token proves of the contact that a user is given; whoever may change the user may use it, bound to a key or
 * not.
 */
export function readProofOf(
  context: DescribeContext,
  verificationToken: string | undefined,
  contact: { readonly email?: string | undefined; readonly phone?: string | undefined },
): ProvenContact | undefined {
  if (verificationToken === undefined) return undefined;
  const proven = readProvenContact(context, verificationToken);
  if (!proves(proven, { email: contact.email, phone: contact.phone })) {
    throw new ApiError('INVALID_VERIFICATION_TOKEN', 'the verification token is for another contact');
  }
  return proven;
}

/** Each change keeps the tree's index in step with the user's row. */
export async function changeName(
  store: Stores,
  { organizationId, rootId }: Place,
  userId: string,
  name: string,
  nowMs: number,
): Promise<void> {
  const before = await store(UserStore).rename(organizationId, userId, name, nowMs);
  await store(TreeStore).move(rootId, organizationId, before, { kind: 'USERNAME', value: name, ownerId: userId });
}

/**
 * A changed contact is unverified until a token proves it again (protocol/organizations 1.5); an equal one keeps its
 * mark.
 */
export async function changeEmail(
  store: Stores,
  { organizationId, rootId }: Place,
  userId: string,
  email: string | undefined,
  nowMs: number,
): Promise<void> {
  const user = await store(UserStore).get(organizationId, userId);
  if (user.email === email) return;
  await store(UserStore).setEmail(organizationId, userId, email, nowMs);
  await store(TreeStore).replace(rootId, organizationId, userId, 'EMAIL', email);
  await store(TreeStore).replace(rootId, organizationId, userId, 'VERIFIED_EMAIL', undefined);
}

export async function changePhone(
  store: Stores,
  { organizationId, rootId }: Place,
  userId: string,
  phone: string | undefined,
  nowMs: number,
): Promise<void> {
  const user = await store(UserStore).get(organizationId, userId);
  if (user.phone === phone) return;
  await store(UserStore).setPhone(organizationId, userId, phone, nowMs);
  await store(TreeStore).replace(rootId, organizationId, userId, 'PHONE_NUMBER', phone);
  await store(TreeStore).replace(rootId, organizationId, userId, 'VERIFIED_PHONE_NUMBER', undefined);
}
