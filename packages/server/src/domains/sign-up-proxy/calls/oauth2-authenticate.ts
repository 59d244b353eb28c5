import Type from 'typebox';
import { ApiError } from '../../../lib/errors.ts';
import {
  AuthCodeShape,
  ClientIdShape,
  CodeVerifierShape,
  NonceShape,
  Oauth2ProviderShape,
  RedirectUriShape,
} from '../../login/shapes/oauth.ts';
import { Oauth2CredentialReader } from '../../login/store/oauth2-credentials.ts';
import { defineProxyCall } from '../define.ts';
import { demand } from '../methods.ts';

const METHODS = { OAUTH2_PROVIDER_X: 'x', OAUTH2_PROVIDER_DISCORD: 'discord' } as const;

export const oauth2Authenticate = defineProxyCall({
  name: 'oauth2_authenticate',
  waitsOutside: true,
  summary: 'Exchange an OAuth 2.0 authorization code for an OIDC token, with the credential of the client id.',
  body: Type.Object({
    provider: Oauth2ProviderShape,
    authCode: AuthCodeShape,
    redirectUri: RedirectUriShape,
    codeVerifier: CodeVerifierShape,
    nonce: NonceShape,
    clientId: ClientIdShape,
  }),
  reply: Type.Object({ oidcToken: Type.String() }),
  demands: (_visit, { provider }) => [demand(METHODS[provider as keyof typeof METHODS])],
  async answer({ app, parent, run }, { provider, clientId, ...parameters }) {
    const credential = await app.storage.read(Oauth2CredentialReader).findCredential(parent.id, provider, clientId);
    if (credential === undefined) {
      throw (await app.storage.read(Oauth2CredentialReader).hasCredentialAt(parent.id, provider))
        ? new ApiError(
            'OAUTH2_CREDENTIAL_NOT_FOUND',
            'this organization has no OAuth 2.0 credential for this provider and client id',
          )
        : new ApiError(
            'OAUTH2_PROVIDER_NOT_CONFIGURED',
            `this organization has no OAuth 2.0 credential for ${provider}; add one with create_oauth2_credential`,
          );
    }
    const { result } = await run<{ oidcToken: string }>({
      type: 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE',
      parameters: { ...parameters, oauth2CredentialId: credential.id },
    });
    return { oidcToken: result.oidcToken };
  },
});
