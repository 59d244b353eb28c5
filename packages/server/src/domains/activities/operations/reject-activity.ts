import Type from 'typebox';
import { defineVote } from '../../../engine/define.ts';
import { FingerprintShape } from '../shapes.ts';

export const rejectActivity = defineVote({
  name: 'reject_activity',
  type: 'ACTIVITY_TYPE_REJECT_ACTIVITY',
  summary: 'Reject a pending activity by its fingerprint; one rejection is final. The answer is that activity.',
  selection: 'VOTE_SELECTION_REJECTED',
  schema: Type.Object({ fingerprint: FingerprintShape }),
});
