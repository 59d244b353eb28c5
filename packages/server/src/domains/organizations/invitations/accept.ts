import type { Activity, Organization } from '../../../core/model.ts';
import { ActivityStore } from '../../../core/store/activities.ts';
import { ActivityReader } from '../../../core/store/activity-reader.ts';
import { OrganizationReader, OrganizationStore } from '../../../core/store/organizations.ts';
import { unproposedActivity } from '../../../engine/activities/unproposed.ts';
import { announceActivity } from '../../../engine/announce-activity.ts';
import type { App } from '../../../engine/app.ts';
import { sha256Hex } from '../../../lib/encoding.ts';
import { ApiError, invalidField } from '../../../lib/errors.ts';
import type { OrganizationId, UserId, WebhookEndpointId } from '../../../lib/ids.ts';
import type { Invitation } from '../model.ts';
import { InvitationReader, InvitationStore } from '../store.ts';
import type { AcceptBody } from './calls.ts';
import type { InvitationRequest } from './invitation-request.ts';
import { addInvitedUser, type InvitedCredential, verifyInvitedUser } from './invited-user.ts';
import { requireOpen } from './open.ts';

const TYPE = 'ACTIVITY_TYPE_ACCEPT_INVITATION_V2';

interface Accepted {
  readonly organizationId: string;
  readonly invitationId: string;
  readonly userId: string;
}

const fingerprintOf = (body: Uint8Array): string => `sha256:${sha256Hex(body)}`;

/** Accepts once. The very same body again, or at the same time, answers the same: its answer may have been lost. */
export async function acceptOnce(
  app: App,
  organization: Organization,
  invitation: Invitation,
  body: AcceptBody,
  request: InvitationRequest,
): Promise<Accepted> {
  const known = await acceptedBefore(app, organization.id, request.body);
  if (known !== undefined) return known;
  try {
    return await accept(app, organization, invitation, body, request);
  } catch (error) {
    const meanwhile = await acceptedBefore(app, organization.id, request.body);
    if (meanwhile !== undefined) return meanwhile;
    throw error;
  }
}

async function acceptedBefore(
  { storage }: App,
  organizationId: OrganizationId,
  body: Uint8Array,
): Promise<Accepted | undefined> {
  const activities = storage.read(ActivityReader);
  const id = await activities.idByFingerprint(organizationId, fingerprintOf(body));
  const found = id && (await activities.find(organizationId, id));
  if (!found || found.activity.type !== TYPE) return undefined;
  return { organizationId, ...(found.activity.result as { invitationId: string; userId: string }) };
}

/** Makes the invited user, all or nothing: of two who accept at the same time one does. */
async function accept(
  app: App,
  { id: organizationId }: Organization,
  { id: invitationId }: Invitation,
  body: AcceptBody,
  { body: bytes, passage }: InvitationRequest,
): Promise<Accepted> {
  const { storage, attestations, newId, config } = app;
  const { read } = storage;
  const nowMs = app.clock();
  const organization = await read(OrganizationReader).get(organizationId);
  const before = await read(InvitationReader).get(organizationId, invitationId);
  await requireOpen(read, organizationId, before, nowMs);
  requireFitting(before, body);
  const verified = await verifyInvitedUser({ read, attestations, actor: { organization } }, before, body);
  let told: readonly WebhookEndpointId[] = [];
  const activity = await storage.write(
    async (store) => {
      passage.requireClient();
      const target = await store(OrganizationStore).lock(organizationId, 'exclusive');
      if (target.deletedAtMs !== undefined) throw new ApiError('FAILED_PRECONDITION', 'the organization is gone');
      const invitation = await store(InvitationStore).get(organizationId, invitationId);
      await requireOpen(store, organizationId, invitation, nowMs);
      await store(InvitationStore).end(organizationId, invitationId, 'INVITATION_STATUS_ACCEPTED', nowMs);
      const context = { store, newId, nowMs, config };
      const userId = await addInvitedUser(context, target, invitation, body, verified);
      const about = { id: newId<'activity'>(), organizationId, fingerprint: fingerprintOf(bytes) };
      const done = activityOf(about, invitation, userId, body, nowMs);
      await store(ActivityStore).insert(done, []);
      told = await announceActivity(app, store, { activity: done, votes: [], proofs: [] }, target, nowMs);
      return done;
    },
    { of: organization, turn: { organizationId, mode: 'exclusive' } },
  );
  app.observe.activity(activity);
  app.webhooks.wake(told);
  return { organizationId, ...(activity.result as { invitationId: string; userId: string }) };
}

/** One credential, of the kind that the invitation is for. */
function requireFitting({ accessType }: Invitation, { apiKey, authenticator }: InvitedCredential): void {
  if ((apiKey === undefined) === (authenticator === undefined)) {
    throw new ApiError('REQUEST_INVALID', 'give either apiKey or authenticator');
  }
  if (accessType === 'ACCESS_TYPE_WEB' && apiKey !== undefined) {
    throw invalidField('apiKey', 'this invitation is for a passkey (ACCESS_TYPE_WEB): give authenticator');
  }
  if (accessType === 'ACCESS_TYPE_API' && authenticator !== undefined) {
    throw invalidField('authenticator', 'this invitation is for an API key (ACCESS_TYPE_API): give apiKey');
  }
}

/** The audit log tells where the user came from: an activity that nobody voted on. The secret is not in it. */
function activityOf(
  about: Pick<Activity, 'id' | 'organizationId' | 'fingerprint'>,
  { id: invitationId }: Invitation,
  userId: UserId,
  { apiKey, authenticator }: InvitedCredential,
  nowMs: number,
): Activity {
  const parameters = { invitationId, userId, ...(authenticator && { authenticator }), ...(apiKey && { apiKey }) };
  const result = { invitationId, userId };
  return unproposedActivity({ ...about, operation: 'accept_invitation', type: TYPE, parameters, result }, nowMs);
}
