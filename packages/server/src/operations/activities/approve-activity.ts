import Type from 'typebox';
import { defineVote } from '../define.ts';
import { FingerprintShape } from '../shapes/activities.ts';

export const approveActivity = defineVote({
  name: 'approve_activity',
  type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  summary: 'Approve a pending activity by its fingerprint. The answer is that activity.',
  selection: 'VOTE_SELECTION_APPROVED',
  schema: Type.Object({ fingerprint: FingerprintShape }),
});
