import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
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
  sentence: ({ oauth2CredentialId }, { names }) =>
    lookClosely(
      say`Delete the OAuth 2.0 client ${nameOf(names, 'oauth2Credential', oauth2CredentialId)}: logins through it end.`,
      'ends a way to log in',
      'Nobody can log in through this client then. I want that.',
    ),
  result: Type.Object({ oauth2CredentialId: Type.String() }),
  async execute({ store, actor }, { oauth2CredentialId }) {
    await store(Oauth2CredentialStore).deleteCredential(actor.organizationId, oauth2CredentialId);
    return { oauth2CredentialId };
  },
});
