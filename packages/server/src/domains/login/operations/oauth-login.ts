import Type from 'typebox';
import { OidcTokenShape } from '../../../authn/shapes.ts';
import { defineActivity } from '../../../engine/define.ts';
import {
  checkSession,
  exposeSession,
  openLoginSession,
  readLoginAhead,
  sessionProfileFor,
  signLoginSession,
} from '../login-session.ts';
import { consumeIdentified, identify } from '../oauth/identify.ts';
import { sessionSentence } from '../sentences.ts';
import { SESSION_PARAMS } from '../shapes/sessions.ts';

export const oauthLogin = defineActivity({
  name: 'oauth_login',
  type: 'ACTIVITY_TYPE_OAUTH_LOGIN',
  summary: 'Log a user of a sub-organization in by an OpenID token that is bound to the session key.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE', params: ['session_profile_id'] },
  credentials: 'inherits',
  parentRuns: true,
  proxyRuns: true,
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  scope: 'sub-organization',
  parameters: Type.Object({ oidcToken: OidcTokenShape, ...SESSION_PARAMS }),
  secrets: ['oidcToken'],
  sentence: ({ expirationSeconds, invalidateExisting, sessionProfileId }, context) =>
    sessionSentence(context, {
      by: 'a token of an identity provider',
      expirationSeconds,
      invalidateExisting,
      sessionProfileId,
    }),
  result: Type.Object({ session: Type.String() }),
  exposes: exposeSession,
  check: checkSession,
  async describe(context, { oidcToken, publicKey, sessionProfileId }) {
    await sessionProfileFor(context.read, context.actor, sessionProfileId);
    return await identify(context, oidcToken, publicKey);
  },
  subject: ({ subject }) => subject,
  async prepare(context, parameters, identified) {
    return { identified, login: await signLoginSession(context, parameters, identified.userId) };
  },
  readAhead: (context, { login }) => readLoginAhead(context, login),
  async execute(context, { invalidateExisting }, { identified, login }) {
    await consumeIdentified(context, identified);
    return await openLoginSession(context, login, invalidateExisting);
  },
});
