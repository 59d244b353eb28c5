import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { textShape } from '../../../lib/shapes.ts';
import { exchangeForToken } from '../oauth/issue-token.ts';
import { sessionPublicKey } from '../session-keys.ts';
import {
  AuthCodeShape,
  CodeVerifierShape,
  NonceShape,
  Oauth2CredentialIdShape,
  RedirectUriShape,
} from '../shapes/oauth.ts';
import { Oauth2CredentialReader } from '../store/oauth2-credentials.ts';

const BEARER_KEY = 'parameters.bearerTokenTargetPublicKey';

/** protocol/login 8.2. */
export const oauth2Authenticate = defineActivity({
  name: 'oauth2_authenticate',
  type: 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE',
  summary: 'Exchange an authorization code of an OAuth 2.0 provider for an OpenID token of this service.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  // The token logs in as the identity that it names, without a profile.
  credentials: 'mints',
  proxyRuns: true,
  // It writes nothing but itself.
  lock: 'shared',
  scope: 'parent',
  parameters: Type.Object({
    oauth2CredentialId: Oauth2CredentialIdShape,
    authCode: AuthCodeShape,
    redirectUri: RedirectUriShape,
    codeVerifier: CodeVerifierShape,
    nonce: NonceShape,
    bearerTokenTargetPublicKey: Type.Optional(textShape(512)),
  }),
  secrets: ['authCode', 'codeVerifier'],
  sentence: ({ oauth2CredentialId }, { names }) =>
    say`Exchange a code of ${nameOf(names, 'oauth2Credential', oauth2CredentialId)} for a token that proves who logged in there.`,
  result: Type.Object({ oidcToken: Type.String() }),
  secretResults: ['oidcToken'],
  check({ bearerTokenTargetPublicKey }) {
    if (bearerTokenTargetPublicKey) sessionPublicKey(bearerTokenTargetPublicKey, BEARER_KEY);
  },
  describe: ({ read, actor }, { oauth2CredentialId }) =>
    read(Oauth2CredentialReader).getCredential(actor.organizationId, oauth2CredentialId),
  // A provider takes a code once, and what was decided may have to be decided again: then the token is the same.
  prepare: (context, { bearerTokenTargetPublicKey: bearerKey, ...parameters }, credential) =>
    context.once(() =>
      exchangeForToken(context, credential, {
        ...parameters,
        bearerKey: bearerKey ? Buffer.from(sessionPublicKey(bearerKey, BEARER_KEY), 'hex') : undefined,
      }),
    ),
  // The provider has used the code up by then.
  useProof: async () => {},
  secretResult: ({ oidcToken, expiresAtMs }) => ({ values: { oidcToken }, expiresAtMs }),
  execute: async (_context, _parameters, { oidcToken }) => ({ oidcToken }),
});
