import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { consumeForLogin } from '../login-proof.ts';
import { checkSession, exposeSession, openLoginSession, readLoginAhead, signLoginSession } from '../login-session.ts';
import { sessionSentence } from '../sentences.ts';
import { SESSION_PARAMS } from '../shapes/sessions.ts';

export const stampLogin = defineActivity({
  name: 'stamp_login',
  type: 'ACTIVITY_TYPE_STAMP_LOGIN',
  summary: 'Log in with a stamp of one of your own credentials: registers a session key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE', params: ['session_profile_id'] },
  credentials: 'inherits',
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  findsSubOrganization: true,
  accepts: { attested: true },
  parameters: Type.Object(SESSION_PARAMS),
  sentence: ({ expirationSeconds, invalidateExisting, sessionProfileId }, context) =>
    sessionSentence(context, { expirationSeconds, invalidateExisting, sessionProfileId }),
  result: Type.Object({ session: Type.String() }),
  ownAccount: 'any-credential',
  managesCredentialsOf: (_parameters, proposer) => proposer.userId,
  exposes: exposeSession,
  check: checkSession,
  prepare: (context, parameters) => signLoginSession(context, parameters, context.actor.userId),
  readAhead: readLoginAhead,
  async execute(context, { invalidateExisting }, login) {
    const { userId, credential } = context.actor;
    if (credential.kind === 'attested') {
      const { token, method, contact } = credential.attested;
      if (token !== undefined) await consumeForLogin(context, { userId, token, method, contact });
    }
    return await openLoginSession(context, login, invalidateExisting);
  },
});
