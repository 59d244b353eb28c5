import type { VerifiedAuthenticator } from '../../../authn/attestations.ts';
import { type Organization, treeRoot } from '../../../core/model.ts';
import type { UserId } from '../../../lib/ids.ts';
import { type AddContext, type VerifyContext, verifyAuthenticators } from '../../users/new-credentials.ts';
import { addUsersWithKeys, checkNewUsers } from '../../users/new-users.ts';
import type { ApiKeyParams, AuthenticatorParams } from '../../users/shapes/credentials.ts';
import { TagStore } from '../../users/store/tags.ts';
import { pairs } from '../../users/user-tags.ts';
import type { Invitation } from '../model.ts';

/** The one credential that an invited person brings. */
export interface InvitedCredential {
  readonly apiKey?: ApiKeyParams | undefined;
  readonly authenticator?: AuthenticatorParams | undefined;
}

/** Everything but the credential is the invitation's. */
const userOf = (invitation: Invitation, { apiKey, authenticator }: InvitedCredential) => ({
  userName: invitation.receiverUserName,
  userEmail: invitation.receiverEmail,
  apiKeys: apiKey === undefined ? [] : [apiKey],
  authenticators: authenticator === undefined ? [] : [authenticator],
  oauthProviders: [],
});

/** The rules of create_users, before the transaction. */
export async function verifyInvitedUser(
  context: VerifyContext,
  invitation: Invitation,
  credential: InvitedCredential,
): Promise<readonly VerifiedAuthenticator[]> {
  const user = userOf(invitation, credential);
  checkNewUsers([user], 'user');
  return await verifyAuthenticators(context, user.authenticators);
}

export async function addInvitedUser(
  context: AddContext,
  organization: Organization,
  invitation: Invitation,
  credential: InvitedCredential,
  authenticators: readonly VerifiedAuthenticator[],
): Promise<UserId> {
  const { store } = context;
  const { id: organizationId } = organization;
  const place = { organizationId, rootId: treeRoot(organization) };
  const [userId] = await addUsersWithKeys(context, place, [userOf(invitation, credential)], [authenticators]);
  if (userId === undefined) throw new Error('no user was added');
  await store(TagStore).tagUsers(organizationId, pairs([userId], invitation.receiverUserTags));
  return userId;
}
