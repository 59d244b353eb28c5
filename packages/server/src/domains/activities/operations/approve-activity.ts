import Type from 'typebox';
import { defineVote } from '../../../engine/define.ts';
import { FingerprintShape } from '../shapes.ts';

export const approveActivity = defineVote({
  name: 'approve_activity',
  type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY',
  summary: 'Approve a pending activity by its fingerprint. The answer is that activity.',
  selection: 'VOTE_SELECTION_APPROVED',
  schema: Type.Object({ fingerprint: FingerprintShape }),
});
