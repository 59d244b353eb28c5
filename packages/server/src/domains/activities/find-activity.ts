import { ActivityReader, type ActivityWithVotes } from '../../core/store/activities.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { ReadStores } from '../../storage/stores.ts';

/** Some clients poll under the parent's id, so its sub-organizations are looked through too (protocol/activities 3.5). */
export async function findActivity(
  read: ReadStores,
  organizationId: OrganizationId,
  activityId: string,
): Promise<ActivityWithVotes | undefined> {
  const found = await read(ActivityReader).find(organizationId, activityId);
  if (found !== undefined) return found;
  const ownerId = await read(ActivityReader).organizationInTree(organizationId, activityId);
  return ownerId === undefined ? undefined : await read(ActivityReader).find(ownerId, activityId);
}
