import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { InvitationStore } from '../store.ts';

export const deleteInvitation = defineActivity({
  name: 'delete_invitation',
  type: 'ACTIVITY_TYPE_DELETE_INVITATION',
  summary: 'Revoke an invitation that nobody has accepted; its link ends with it.',
  policy: { governedBy: 'policy', resource: 'INVITATION', action: 'DELETE' },
  // Whoever it invited can no longer make one.
  credentials: 'removes',
  parameters: Type.Object({ invitationId: IdShape }),
  sentence: ({ invitationId }, { names }) =>
    say`Take back the invitation of ${nameOf(names, 'invitation', invitationId)}.`,
  result: Type.Object({ invitationId: Type.String() }),
  async execute({ store, actor, nowMs }, { invitationId }) {
    const { organizationId } = actor;
    const { status } = await store(InvitationStore).get(organizationId, invitationId);
    if (!(await store(InvitationStore).end(organizationId, invitationId, 'INVITATION_STATUS_REVOKED', nowMs)))
      throw new ApiError('FAILED_PRECONDITION', `the invitation is ${status}`);
    return { invitationId };
  },
});
