import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderAuthenticator } from '../render/user.ts';
import { AuthenticatorShape } from '../shapes/credentials.ts';
import { CredentialReader } from '../store/credentials.ts';

export const getAuthenticator = defineQuery({
  name: 'get_authenticator',
  summary: 'One passkey.',
  parameters: Type.Object({ organizationId: IdShape, authenticatorId: IdShape }),
  response: Type.Object({ authenticator: AuthenticatorShape }),
  async run({ read, actor }, { authenticatorId }) {
    const authenticator = await read(CredentialReader).getAuthenticator(actor.organizationId, authenticatorId);
    return { authenticator: renderAuthenticator(authenticator) };
  },
});
