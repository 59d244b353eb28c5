import Type from 'typebox';
import { renderOauth2Credential } from '../../wire/oauth.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { Oauth2CredentialShape } from '../shapes/oauth.ts';

export const getOauth2Credential = defineQuery({
  name: 'get_oauth2_credential',
  summary: 'One OAuth 2.0 credential, its secret encrypted as it was submitted.',
  parameters: Type.Object({ organizationId: IdShape, oauth2CredentialId: IdShape }),
  response: Type.Object({ oauth2Credential: Oauth2CredentialShape }),
  async run({ read, actor: { organizationId } }, { oauth2CredentialId }) {
    const credential = await read.oauth.getCredential(organizationId, oauth2CredentialId);
    return { oauth2Credential: renderOauth2Credential(organizationId, credential) };
  },
});
