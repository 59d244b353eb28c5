import { ApiError } from '../../lib/errors.ts';
import type { Stores } from '../../storage/stores.ts';
import type { Place } from '../credentials/new-credentials.ts';

/**
 * Marks a contact as proven by its owner, so that it finds the user through a parent's id. In a tree a proven contact
 * belongs to one organization, the first that proves it (protocol/stamps 7.3): another can refuse what it does, or
 * leave it unmarked.
 */
export async function markVerified(
  store: Stores,
  { organizationId, rootId }: Place,
  userId: string,
  contact: 'email' | 'phone',
  whenTaken: 'refuse' | 'leave',
  nowMs: number,
): Promise<void> {
  const user = await store.users.get(organizationId, userId);
  const value = contact === 'email' ? user.email : user.phone;
  const isMarked = contact === 'email' ? user.emailVerified : user.phoneVerified;
  if (value === undefined || isMarked) return;
  const kind = contact === 'email' ? 'VERIFIED_EMAIL' : 'VERIFIED_PHONE_NUMBER';
  if (await store.tree.claim(rootId, organizationId, { kind, value, ownerId: userId })) {
    await store.users.markVerified(organizationId, userId, contact, nowMs);
  } else if (whenTaken === 'refuse') {
    throw new ApiError('ALREADY_EXISTS', `an account with this verified ${contact} already exists`);
  }
}
