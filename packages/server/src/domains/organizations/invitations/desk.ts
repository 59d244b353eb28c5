import { type Organization, treeRoot } from '../../../core/model.ts';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import type { App } from '../../../engine/app.ts';
import { guardAuthentication } from '../../../engine/guard.ts';
import { withKeyringErrors } from '../../../engine/keyring-errors.ts';
import { BODY_BOUNDS } from '../../../engine/request.ts';
import { isAllowedFrom } from '../../../engine/rules/allowlist.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { parseStrictJson } from '../../../lib/strict-json.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import type { Invitation } from '../model.ts';
import { InvitationReader } from '../store.ts';
import { acceptOnce } from './accept.ts';
import { acceptInvitation, type InvitationCall, openInvitation } from './calls.ts';
import type { InvitationRequest } from './invitation-request.ts';
import { isSecretOf } from './link.ts';
import { requireOpen } from './open.ts';

/** Whom the link was mailed to, and where. */
interface Invited {
  readonly organization: Organization;
  readonly invitation: Invitation;
}

/** Answers invited persons, who have no credential yet (docs/decisions/0041). */
export async function answerInvited(app: App, call: InvitationCall, request: InvitationRequest): Promise<unknown> {
  const { passage, clientAddress } = request;
  await passage.enter(request.body.length);
  const value = parseStrictJson(request.body, BODY_BOUNDS);
  const link = openInvitation.decode(value);
  const { organization, invitation } = await guardAuthentication(app, { ...request, headers: {} }, () =>
    findInvited(app.storage.read, link),
  );
  await requireAllowedAddress(app, organization, clientAddress);
  await passage.asTenant(treeRoot(organization), organization.id, false);
  const { fence } = app.storage;
  if (call.name !== openInvitation.name) fence.requireLifted(organization);
  // It may have been revoked, or accepted, after the backup was made.
  fence.requireNew('the invitation', invitation.createdAtMs);
  if (call.name === openInvitation.name) {
    await requireOpen(app.storage.read, organization.id, invitation, app.clock());
    return describe(organization, invitation);
  }
  const body = acceptInvitation.decode(value);
  return await withKeyringErrors(() => acceptOnce(app, organization, invitation, body, request));
}

/** One answer for every link that is none, so that it tells nobody which invitations there are. */
async function findInvited(
  read: ReadStores,
  { organizationId, invitationId, secret }: { organizationId: string; invitationId: string; secret: string },
): Promise<Invited> {
  const organization = await read(OrganizationReader).find(organizationId as OrganizationId);
  const invitation = organization && (await read(InvitationReader).find(organization.id, invitationId));
  const isGone = organization === undefined || organization.deletedAtMs !== undefined;
  if (isGone || invitation?.link === undefined || !isSecretOf(invitation.link.secretHash, secret)) {
    throw new ApiError('UNAUTHENTICATED', 'this is not the link of an invitation; ask for a new one');
  }
  return { organization, invitation };
}

/** Where only some networks may call, nobody joins from elsewhere. */
async function requireAllowedAddress(app: App, organization: Organization, address: string | undefined): Promise<void> {
  const allowlists = await app.accessRules.allowlistsOf(organization, app.storage.read);
  if (isAllowedFrom(allowlists, undefined, address)) return;
  throw new ApiError('IP_NOT_ALLOWED', 'requests from this address are not allowed');
}

const describe = ({ name }: Organization, { receiverUserName, receiverEmail, accessType, link }: Invitation) => ({
  organizationName: name,
  receiverUserName,
  receiverEmail,
  accessType,
  expiresAt: toRfc3339(link?.expiresAtMs ?? 0),
});
