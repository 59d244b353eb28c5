import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { keepBundle } from '../oauth/keep-bundle.ts';
import {
  ClientIdShape,
  EncryptedClientSecretShape,
  Oauth2CredentialIdShape,
  Oauth2ProviderShape,
} from '../shapes/oauth.ts';
import { Oauth2CredentialReader, Oauth2CredentialStore } from '../store/oauth2-credentials.ts';

export const updateOauth2Credential = defineActivity({
  name: 'update_oauth2_credential',
  type: 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL',
  summary: 'Replace provider, client id and secret of an OAuth 2.0 credential.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'UPDATE' },
  // It says which client exchanges codes for tokens that log in.
  credentials: 'redirects',
  scope: 'parent',
  parameters: Type.Object({
    oauth2CredentialId: Oauth2CredentialIdShape,
    provider: Oauth2ProviderShape,
    clientId: ClientIdShape,
    encryptedClientSecret: EncryptedClientSecretShape,
  }),
  sentence: ({ oauth2CredentialId, clientId }, { names }) =>
    lookClosely(
      say`Change the OAuth 2.0 client ${nameOf(names, 'oauth2Credential', oauth2CredentialId)} to ${named(clientId)}.`,
      'changes how people log in',
      'Logins through this provider go by the new client. I want that.',
    ),
  result: Type.Object({ oauth2CredentialId: Type.String() }),
  describe: ({ read, actor }, { oauth2CredentialId }) =>
    read(Oauth2CredentialReader).getCredential(actor.organizationId, oauth2CredentialId),
  async prepare(context, { encryptedClientSecret }, { id }) {
    return await context.keyring.importOauthSecret(holderOf(context, id), encryptedClientSecret);
  },
  async execute(context, { oauth2CredentialId, ...parameters }, sealedSecret) {
    const { store, actor, nowMs } = context;
    await keepBundle(context, parameters);
    const credential = await store(Oauth2CredentialStore).getCredential(actor.organizationId, oauth2CredentialId);
    await store(Oauth2CredentialStore).updateCredential(actor.organizationId, {
      ...credential,
      ...parameters,
      sealedSecret,
      updatedAtMs: nowMs,
    });
    return { oauth2CredentialId };
  },
});
