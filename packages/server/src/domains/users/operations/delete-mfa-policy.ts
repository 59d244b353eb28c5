import Type from 'typebox';
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
  result: Type.Object({ mfaPolicyId: Type.String() }),
  async execute({ store, actor, nowMs }, { userId, mfaPolicyId }) {
    const policy = await store(MfaStore).get(actor.organizationId, userId, mfaPolicyId);
    await store(MfaStore).delete(actor.organizationId, policy.id);
    await store(UserStore).touch(actor.organizationId, [policy.userId], nowMs);
    return { mfaPolicyId };
  },
});
