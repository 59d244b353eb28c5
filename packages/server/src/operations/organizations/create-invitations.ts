import Type from 'typebox';
import { ApiError, invalidField } from '../../lib/errors.ts';
import type { TagId, UserId } from '../../lib/ids.ts';
import type { Invitation } from '../../lib/model.ts';
import { defineActivity } from '../define.ts';
import { IdListOrEmptyShape, IdShape, listShape, NameShape } from '../shapes/basic.ts';
import { AccessTypeShape } from '../shapes/organizations.ts';
import { EmailOrEmptyShape } from '../shapes/users.ts';
import { normalizeEmail } from '../users/new-users.ts';

const InvitationParamsShape = Type.Object({
  receiverUserName: NameShape,
  receiverUserEmail: EmailOrEmptyShape,
  receiverUserTags: IdListOrEmptyShape,
  accessType: AccessTypeShape,
  senderUserId: IdShape,
});

export const createInvitations = defineActivity({
  name: 'create_invitations',
  type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
  summary: 'Record invitations to the organization. The sender is the user who proposes the activity.',
  policy: { governedBy: 'policy', resource: 'INVITATION', action: 'CREATE' },
  // Its acceptance makes a user with credentials.
  credentials: 'mints',
  parameters: Type.Object({ invitations: listShape(InvitationParamsShape, 1) }),
  result: Type.Object({ invitationIds: Type.Array(Type.String()) }),
  check({ invitations }) {
    for (const [index, { receiverUserEmail }] of invitations.entries()) {
      if (receiverUserEmail === '')
        throw invalidField(`parameters.invitations.${index}.receiverUserEmail`, 'is required');
    }
  },
  async execute({ store, actor, nowMs, newId, config }, { invitations }) {
    const { organizationId } = actor;
    if (invitations.some((invitation) => invitation.senderUserId !== actor.userId)) {
      throw new ApiError('REQUEST_INVALID', 'senderUserId must be the user who proposes the activity');
    }
    await store.tags.requireAll(organizationId, 'TAG_TYPE_USER', [
      ...new Set(invitations.flatMap((invitation) => invitation.receiverUserTags)),
    ]);
    const open = (await store.invitations.countOpen(organizationId)) + invitations.length;
    if (config.limitInvitations !== undefined && open > config.limitInvitations) {
      throw new ApiError(
        'RESOURCE_LIMIT_EXCEEDED',
        `an organization can have at most ${config.limitInvitations} open invitations`,
      );
    }
    const rows = invitations.map(
      (invitation): Invitation => ({
        id: newId(),
        receiverUserName: invitation.receiverUserName,
        receiverEmail: normalizeEmail(invitation.receiverUserEmail) as string,
        receiverUserTags: invitation.receiverUserTags as TagId[],
        accessType: invitation.accessType,
        status: 'INVITATION_STATUS_CREATED',
        senderUserId: invitation.senderUserId as UserId,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }),
    );
    await store.invitations.insert(organizationId, rows);
    return { invitationIds: rows.map((row) => row.id) };
  },
});
