import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { Oauth2CredentialIdShape } from '../shapes/oauth.ts';
import { Oauth2CredentialStore } from '../store/oauth2-credentials.ts';

export const deleteOauth2Credential = defineActivity({
  name: 'delete_oauth2_credential',
  type: 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL',
  summary: 'Delete an OAuth 2.0 credential with its secret.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'DELETE' },
  // It says which client exchanges codes for tokens that log in.
  credentials: 'redirects',
  scope: 'parent',
  parameters: Type.Object({ oauth2CredentialId: Oauth2CredentialIdShape }),
  result: Type.Object({ oauth2CredentialId: Type.String() }),
  async execute({ store, actor }, { oauth2CredentialId }) {
    await store(Oauth2CredentialStore).deleteCredential(actor.organizationId, oauth2CredentialId);
    return { oauth2CredentialId };
  },
});
