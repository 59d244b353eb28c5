import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { InvitationStatusShape } from '../shapes.ts';
import { InvitationReader } from '../store.ts';

const ListedInvitationShape = Type.Object({
  invitationId: Type.String(),
  receiverUserName: Type.String(),
  receiverEmail: Type.String(),
  receiverUserTags: Type.Array(Type.String()),
  accessType: Type.String(),
  senderUserId: Type.String(),
  status: InvitationStatusShape,
  /** Absent for an invitation without a link. */
  expiresAt: Type.Optional(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

export const listInvitations = defineQuery({
  name: 'list_invitations',
  ours: true,
  summary: 'Invitations to the organization, whatever became of them; newest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ invitations: Type.Array(ListedInvitationShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(InvitationReader).page(actor.organizationId, request);
    const invitations = items.map((invitation) => ({
      invitationId: invitation.id as string,
      receiverUserName: invitation.receiverUserName,
      receiverEmail: invitation.receiverEmail,
      receiverUserTags: [...invitation.receiverUserTags] as string[],
      accessType: invitation.accessType,
      senderUserId: invitation.senderUserId as string,
      status: invitation.status,
      createdAt: toRfc3339(invitation.createdAtMs),
      updatedAt: toRfc3339(invitation.updatedAtMs),
      ...(invitation.link !== undefined && { expiresAt: toRfc3339(invitation.link.expiresAtMs) }),
    }));
    return { invitations, pageInfo };
  },
});
