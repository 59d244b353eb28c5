import Type from 'typebox';
import { toWords } from '../../../describe/fields.ts';
import { named, say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import type { Oauth2CredentialId } from '../../../lib/ids.ts';
import { keepBundle } from '../oauth/keep-bundle.ts';
import { ClientIdShape, EncryptedClientSecretShape, Oauth2ProviderShape } from '../shapes/oauth.ts';
import { Oauth2CredentialStore } from '../store/oauth2-credentials.ts';

/** protocol/login 8.1. */
export const createOauth2Credential = defineActivity({
  name: 'create_oauth2_credential',
  type: 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL',
  summary: 'Keep the client id and secret of an OAuth 2.0 provider; the secret comes encrypted to the service.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  // It says which client exchanges codes for tokens that log in.
  credentials: 'redirects',
  scope: 'parent',
  // It alters no decision; that there is one for each client is an index's business.
  lock: 'shared',
  parameters: Type.Object({
    provider: Oauth2ProviderShape,
    clientId: ClientIdShape,
    encryptedClientSecret: EncryptedClientSecretShape,
  }),
  sentence: ({ provider, clientId }) =>
    say`Add the OAuth 2.0 client ${named(clientId)} of ${strong(toWords(provider.replace(/^OAUTH2_PROVIDER_/, '')))}.`,
  result: Type.Object({ oauth2CredentialId: Type.String() }),
  async prepare(context, { encryptedClientSecret }) {
    const id: Oauth2CredentialId = context.newId();
    return { id, sealedSecret: await context.keyring.importOauthSecret(holderOf(context, id), encryptedClientSecret) };
  },
  async execute(context, parameters, sealed) {
    const { store, actor, nowMs } = context;
    await keepBundle(context, parameters);
    await store(Oauth2CredentialStore).insertCredential(actor.organizationId, {
      ...parameters,
      ...sealed,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    return { oauth2CredentialId: sealed.id };
  },
});
