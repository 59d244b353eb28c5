import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { defineQuery } from '../define.ts';
import { AppProofShape } from '../shapes/activities.ts';
import { IdShape } from '../shapes/basic.ts';

export const listAppProofs = defineQuery({
  name: 'list_app_proofs',
  summary: 'The app proofs of an activity that asked for them.',
  parameters: Type.Object({ organizationId: IdShape, activityId: IdShape }),
  response: Type.Object({ appProofs: Type.Array(AppProofShape) }),
  async run({ read, actor }, { activityId }) {
    const found = await read.activities.find(actor.organizationId, activityId);
    if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'activity not found in this organization');
    return { appProofs: found.proofs.map((proof) => ({ ...proof })) };
  },
});
