import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activities.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { approvalOf } from '../approvals/approval.ts';
import { ApprovalShape } from '../approvals/shapes.ts';

export const getApproval = defineQuery({
  name: 'get_approval',
  ours: true,
  summary: 'One activity with how far it is: who voted, what is missing, and whether it waits for the caller.',
  parameters: Type.Object({ organizationId: IdShape, activityId: IdShape }),
  response: Type.Object({ approval: ApprovalShape }),
  async run(context, { activityId }) {
    const found = await context.read(ActivityReader).find(context.actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
    return { approval: await approvalOf(context, found) };
  },
});
