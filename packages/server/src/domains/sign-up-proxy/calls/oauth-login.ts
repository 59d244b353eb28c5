import Type from 'typebox';
import { OidcTokenShape } from '../../../authn/shapes.ts';
import { textShape } from '../../../lib/shapes.ts';
import { holderOfToken, organizationOfLogin } from '../accounts.ts';
import { defineProxyCall } from '../define.ts';
import { ofOidcToken } from '../methods.ts';
import { login, OrganizationShape, SessionShape } from './login.ts';

export const oauthLogin = defineProxyCall({
  name: 'oauth_login',
  waitsOutside: true,
  summary: 'Log in with an OIDC token whose nonce is bound to a public key: registers that key as a session key.',
  body: Type.Object({
    oidcToken: OidcTokenShape,
    publicKey: textShape(512),
    invalidateExisting: Type.Optional(Type.Boolean()),
    organizationId: Type.Optional(OrganizationShape),
  }),
  reply: SessionShape,
  demands: (visit, { oidcToken }) => [ofOidcToken(visit, oidcToken)],
  async answer(visit, { organizationId, ...parameters }) {
    const place = await organizationOfLogin(visit, organizationId, () => holderOfToken(visit, parameters.oidcToken));
    return await login(visit, place, 'ACTIVITY_TYPE_OAUTH_LOGIN', parameters);
  },
});
