import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activities.ts';
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
    // Some clients poll under the parent's id (protocol/activities 3.5).
    const found =
      (await read(ActivityReader).find(actor.organizationId, activityId)) ??
      (await findInTree(read, actor.organizationId, activityId));
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'activity not found in this organization');
    return { activity: renderActivity(await revealResult(found)) };
  },
});

async function findInTree(read: ReadStores, rootId: OrganizationId, activityId: string) {
  const ownerId = await read(ActivityReader).organizationInTree(rootId, activityId);
  return ownerId === undefined ? undefined : await read(ActivityReader).find(ownerId, activityId);
}
