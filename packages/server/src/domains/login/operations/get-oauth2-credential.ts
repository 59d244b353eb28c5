import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderOauth2Credential } from '../render/oauth2-credential.ts';
import { Oauth2CredentialShape } from '../shapes/oauth.ts';
import { Oauth2CredentialReader } from '../store/oauth2-credentials.ts';

export const getOauth2Credential = defineQuery({
  name: 'get_oauth2_credential',
  summary: 'One OAuth 2.0 credential, its secret encrypted as it was submitted.',
  parameters: Type.Object({ organizationId: IdShape, oauth2CredentialId: IdShape }),
  response: Type.Object({ oauth2Credential: Oauth2CredentialShape }),
  async run({ read, actor: { organizationId } }, { oauth2CredentialId }) {
    const credential = await read(Oauth2CredentialReader).getCredential(organizationId, oauth2CredentialId);
    return { oauth2Credential: renderOauth2Credential(organizationId, credential) };
  },
});
