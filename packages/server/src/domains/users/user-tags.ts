import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Stores } from '../../storage/stores.ts';
import { UserStore } from './store/users.ts';

/** Throws unless every id is a user of the organization; foreign ids look like unknown ones. */
export async function requireUsers(
  store: Stores,
  organizationId: OrganizationId,
  userIds: readonly string[],
): Promise<void> {
  const existing = await store(UserStore).existing(organizationId, userIds);
  if (userIds.some((userId) => !existing.has(userId))) {
    throw new ApiError('RESOURCE_NOT_FOUND', 'user not found in this organization');
  }
}

/** Pairs each user with each tag. */
export const pairs = (userIds: readonly string[], tagIds: readonly string[]): { userId: string; tagId: string }[] =>
  userIds.flatMap((userId) => tagIds.map((tagId) => ({ userId, tagId })));
