import Type from 'typebox';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { defineQuery } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { approvalOf } from '../approvals/approval.ts';
import { DescribedApprovalShape } from '../approvals/shapes.ts';

export const getApproval = defineQuery({
  name: 'get_approval',
  ours: true,
  summary: 'One activity with how far it is: who voted, what is missing, and whether it waits for the caller.',
  parameters: Type.Object({ organizationId: IdShape, activityId: IdShape }),
  response: Type.Object({ approval: DescribedApprovalShape }),
  async run(context, { activityId }) {
    const found = await context.read(ActivityReader).find(context.actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
    const [description] = await context.describeRequests(context.actor.organization, [found]);
    const approval = await approvalOf(context, found);
    return { approval: { ...approval, description: description as NonNullable<typeof description> } };
  },
});
