import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { MfaStore } from '../store/mfa.ts';
import { UserStore } from '../store/users.ts';

export const deleteMfaPolicy = defineActivity({
  name: 'delete_mfa_policy',
  type: 'ACTIVITY_TYPE_DELETE_MFA_POLICY',
  summary: 'Delete an MFA policy of a user; the deletion is itself subject to it.',
  policy: { governedBy: 'policy', resource: 'MFA_POLICY', action: 'DELETE' },
  credentials: 'redirects',
  parameters: Type.Object({ userId: IdShape, mfaPolicyId: IdShape }),
  sentence: ({ userId, mfaPolicyId }, { names }) =>
    danger(
      say`Delete ${nameOf(names, 'mfaPolicy', mfaPolicyId)}: ${nameOf(names, 'user', userId)} no longer has to prove more than one credential.`,
      'takes a protection away',
      'One stolen credential of this user is then enough. I want that.',
    ),
  result: Type.Object({ mfaPolicyId: Type.String() }),
  async execute({ store, actor, nowMs }, { userId, mfaPolicyId }) {
    const policy = await store(MfaStore).get(actor.organizationId, userId, mfaPolicyId);
    await store(MfaStore).delete(actor.organizationId, policy.userId, policy.id);
    await store(UserStore).touch(actor.organizationId, [policy.userId], nowMs);
    return { mfaPolicyId };
  },
});
