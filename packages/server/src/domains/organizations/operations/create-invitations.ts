import Type from 'typebox';
import { isParents } from '../../../core/actor.ts';
import { contactKeyOf } from '../../../core/contact.ts';
import { treeRoot } from '../../../core/model.ts';
import { namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { listOf, named, say, written } from '../../../describe/text.ts';
import { defineActivity, type ExecuteContext, type PrepareContext } from '../../../engine/define.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { InvitationId, OrganizationId, TagId, UserId } from '../../../lib/ids.ts';
import { requireEmailAddress } from '../../../lib/mail-address.ts';
import { IdListOrEmptyShape, IdShape, NameShape } from '../../../lib/shapes.ts';
import { RateWindowStore } from '../../../storage/rate-windows.ts';
import type { SealedMessage } from '../../messages/message.ts';
import { MessageStore } from '../../messages/store.ts';
import { invitationMail } from '../../messages/templates/invitation.ts';
import { normalizeEmail } from '../../users/new-users.ts';
import { AccessTypeShape, EmailOrEmptyShape } from '../../users/shapes/users.ts';
import { TagStore } from '../../users/store/tags.ts';
import { hashOfSecret, invitationUrl, newSecret } from '../invitations/link.ts';
import type { Invitation } from '../model.ts';
import { InvitationStore } from '../store.ts';

const InvitationParamsShape = Type.Object({
  receiverUserName: NameShape,
  receiverUserEmail: EmailOrEmptyShape,
  receiverUserTags: IdListOrEmptyShape,
  accessType: AccessTypeShape,
  senderUserId: IdShape,
});

/** Each is a mail, and each mail is counted while others wait to count theirs. */
const INVITATIONS_MAX = 100;

type InvitationParams = Type.Static<typeof InvitationParamsShape>;

export const createInvitations = defineActivity({
  name: 'create_invitations',
  type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
  summary:
    'Mail invitations to the organization, each with a link that its receiver can accept once. The sender is the user who proposes the activity.',
  policy: { governedBy: 'policy', resource: 'INVITATION', action: 'CREATE' },
  // Its acceptance makes a user with credentials.
  credentials: 'mints',
  sendsMessages: true,
  parameters: Type.Object({
    invitations: Type.Array(InvitationParamsShape, { minItems: 1, maxItems: INVITATIONS_MAX }),
  }),
  sentence: ({ invitations }, { names }) =>
    lookClosely(
      say`Invite ${listOf(invitations.map(({ receiverUserName, receiverUserEmail, receiverUserTags }) => (receiverUserTags.length === 0 ? say`${named(receiverUserName)} (${written(receiverUserEmail)})` : say`${named(receiverUserName)} (${written(receiverUserEmail)}) with the tags ${namesOf(names, 'tag', receiverUserTags)}`)))} to this organization.`,
      'a new person',
      'Whoever opens the mail becomes a user here. I know that these addresses are theirs.',
    ),
  result: Type.Object({ invitationIds: Type.Array(Type.String()) }),
  check({ invitations }) {
    for (const [index, { receiverUserEmail }] of invitations.entries()) {
      const field = `parameters.invitations.${index}.receiverUserEmail`;
      if (receiverUserEmail === '') throw invalidField(field, 'is required');
      requireEmailAddress(receiverUserEmail, field);
    }
  },
  prepare: (context, { invitations }) => Promise.all(invitations.map((invitation) => write(context, invitation))),
  async execute(context, { invitations }, written) {
    const { store, actor, nowMs, config } = context;
    const { organizationId } = actor;
    if (invitations.some((invitation) => invitation.senderUserId !== actor.userId)) {
      throw new ApiError('REQUEST_INVALID', 'senderUserId must be the user who proposes the activity');
    }
    await store(TagStore).requireAll(organizationId, 'TAG_TYPE_USER', [
      ...new Set(invitations.flatMap((invitation) => invitation.receiverUserTags)),
    ]);
    const open = (await store(InvitationStore).countOpen(organizationId, nowMs)) + invitations.length;
    if (config.limitInvitations !== undefined && open > config.limitInvitations) {
      throw new ApiError(
        'RESOURCE_LIMIT_EXCEEDED',
        `an organization can have at most ${config.limitInvitations} open invitations`,
      );
    }
    await countMails(context, invitations);
    await store(InvitationStore).insert(
      organizationId,
      written.map(({ invitation }) => invitation),
    );
    for (const { message } of written) await store(MessageStore).insert(message, nowMs);
    return { invitationIds: written.map(({ invitation }) => invitation.id) };
  },
});

interface Written {
  readonly invitation: Invitation;
  readonly message: SealedMessage;
}

/** An invitation and the mail with its link: the secret is in the mail and nowhere else. */
async function write(context: PrepareContext, params: InvitationParams): Promise<Written> {
  const { actor, nowMs, newId, config, messages, ownIssuer } = context;
  const { organization, organizationId } = actor;
  const id: InvitationId = newId();
  const secret = newSecret();
  const seconds = config.invitationHours * 3600;
  const expiresAtMs = nowMs + seconds * 1000;
  const invitation: Invitation = {
    id,
    receiverUserName: params.receiverUserName,
    receiverEmail: normalizeEmail(params.receiverUserEmail) as string,
    receiverUserTags: params.receiverUserTags as TagId[],
    accessType: params.accessType,
    status: 'INVITATION_STATUS_CREATED',
    senderUserId: params.senderUserId as UserId,
    link: { secretHash: hashOfSecret(secret), expiresAtMs },
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const mail = invitationMail({
    // Anybody can sign up: only parents have words of their own in a mail of this service.
    ...(isParents(actor) && { organizationName: organization.name, userName: invitation.receiverUserName }),
    url: invitationUrl(ownIssuer().issuer, { organizationId, invitationId: id, secret }),
    expiresInSeconds: seconds,
  });
  const message = await messages.compose(organization, {
    channel: 'email',
    to: invitation.receiverEmail,
    ...mail,
    notAfterMs: expiresAtMs,
  });
  return { invitation, message };
}

/**
 * Counted as mails with codes are, in a window of their own for each address, so that invitations flood nobody either.
 */
async function countMails(
  { store, actor, config, nowMs }: ExecuteContext,
  invitations: readonly InvitationParams[],
): Promise<void> {
  const { organizationId } = actor;
  const rootId = treeRoot(actor.organization);
  const count = async (id: OrganizationId, name: string, max: number, more = 1): Promise<void> => {
    const window = { max, windowMs: config.otpWindowSeconds * 1000, nowMs, more };
    if (max === 0 || (await store(RateWindowStore).countUp(id, name, window))) return;
    throw new ApiError('RATE_LIMIT_EXCEEDED', 'too many invitations, try later', {
      retryAfterSeconds: config.otpWindowSeconds,
    });
  };
  // The same order always, so that no two wait for each other; last what all organizations of the tree share.
  const contacts = invitations.map(({ receiverUserEmail }) => contactKeyOf('OTP_TYPE_EMAIL', receiverUserEmail)).sort();
  for (const contact of contacts) await count(rootId, `invitation:${contact}`, config.otpRequests);
  const most = config.otpOrganizationRequests;
  await count(organizationId, 'messages', most, contacts.length);
  if (organizationId !== rootId) await count(rootId, 'messages-of-children', most, contacts.length);
  await store(RateWindowStore).sweepCounts(rootId, nowMs);
}
