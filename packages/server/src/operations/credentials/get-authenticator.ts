import Type from 'typebox';
import { renderAuthenticator } from '../../wire/user.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { AuthenticatorShape } from '../shapes/credentials.ts';

export const getAuthenticator = defineQuery({
  name: 'get_authenticator',
  summary: 'One passkey.',
  parameters: Type.Object({ organizationId: IdShape, authenticatorId: IdShape }),
  response: Type.Object({ authenticator: AuthenticatorShape }),
  async run({ read, actor }, { authenticatorId }) {
    const authenticator = await read.credentials.getAuthenticator(actor.organizationId, authenticatorId);
    return { authenticator: renderAuthenticator(authenticator) };
  },
});
