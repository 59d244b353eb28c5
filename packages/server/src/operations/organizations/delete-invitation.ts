import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { defineActivity } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';

export const deleteInvitation = defineActivity({
  name: 'delete_invitation',
  type: 'ACTIVITY_TYPE_DELETE_INVITATION',
  summary: 'Revoke an invitation that nobody has accepted.',
  policy: { governedBy: 'policy', resource: 'INVITATION', action: 'DELETE' },
  // Whoever it invited can no longer make one.
  credentials: 'removes',
  parameters: Type.Object({ invitationId: IdShape }),
  result: Type.Object({ invitationId: Type.String() }),
  async execute({ store, actor, nowMs }, { invitationId }) {
    const { status } = await store.invitations.get(actor.organizationId, invitationId);
    if (status !== 'INVITATION_STATUS_CREATED')
      throw new ApiError('FAILED_PRECONDITION', `the invitation is ${status}`);
    await store.invitations.revoke(actor.organizationId, invitationId, nowMs);
    return { invitationId };
  },
});
