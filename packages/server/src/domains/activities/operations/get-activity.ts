import Type from 'typebox';
import { ActivityReader, type ActivityWithVotes } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { IdShape } from '../../../lib/shapes.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import { ActivityShape } from '../shapes.ts';

export const getActivity = defineQuery({
  name: 'get_activity',
  summary: 'One activity of the organization, or of one of its sub-organizations.',
  parameters: Type.Object({ organizationId: IdShape, activityId: IdShape }),
  response: Type.Object({ activity: ActivityShape }),
  async run({ read, actor, renderActivity, revealResult }, { activityId }) {
    const found = await findActivity(read, actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'activity not found in this organization');
    return { activity: renderActivity(await revealResult(found)) };
  },
});

/** Some clients poll under the parent's id, so its sub-organizations are looked through too (protocol/activities 3.5). */
async function findActivity(
  read: ReadStores,
  organizationId: OrganizationId,
  activityId: string,
): Promise<ActivityWithVotes | undefined> {
  const found = await read(ActivityReader).find(organizationId, activityId);
  if (found !== undefined) return found;
  const ownerId = await read(ActivityReader).organizationInTree(organizationId, activityId);
  return ownerId === undefined ? undefined : await read(ActivityReader).find(ownerId, activityId);
}
