import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { findActivity } from '../find-activity.ts';
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
