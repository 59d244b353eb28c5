import Type from 'typebox';
import { treeRoot } from '../../lib/model.ts';
import { defineActivity } from '../define.ts';
import { SESSION_PARAMS } from '../shapes/auth.ts';
import { consumeForLogin } from './login-proof.ts';
import {
  addSessionKey,
  parseSessionSeconds,
  sessionKeyName,
  sessionProfileFor,
  sessionPublicKey,
  sessionSeconds,
} from './session-keys.ts';
import { signSession } from './session-token.ts';

export const stampLogin = defineActivity({
  name: 'stamp_login',
  type: 'ACTIVITY_TYPE_STAMP_LOGIN',
  summary: 'Log in with a stamp of one of your own credentials: registers a session key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  findsSubOrganization: true,
  accepts: { attested: true },
  parameters: Type.Object(SESSION_PARAMS),
  result: Type.Object({ session: Type.String() }),
  managesCredentialsOf: (_parameters, proposer) => proposer.userId,
  exposes: ({ sessionProfileId }) => ({ session_profile_id: sessionProfileId ?? '' }),
  check({ publicKey, expirationSeconds }) {
    sessionPublicKey(publicKey);
    parseSessionSeconds(expirationSeconds);
  },
  async prepare(context, { publicKey, expirationSeconds, sessionProfileId }) {
    const { read, actor } = context;
    const profile = await sessionProfileFor(read, actor, sessionProfileId);
    const seconds = sessionSeconds(parseSessionSeconds(expirationSeconds), profile);
    const key = sessionPublicKey(publicKey);
    const { organizationId, userId } = actor;
    return {
      key,
      seconds,
      sessionProfileId: profile?.id,
      session: await signSession(context, { organizationId, userId, publicKey: key, seconds, profile }),
    };
  },
  async execute(context, { invalidateExisting }, { key, seconds, sessionProfileId, session }) {
    const { actor, nowMs } = context;
    const { organizationId, userId, credential } = actor;
    if (credential.kind === 'attested') {
      const { token, method, contact } = credential.attested;
      if (token !== undefined) await consumeForLogin(context, { userId, token, method, contact });
    }
    await addSessionKey(context, { organizationId, rootId: treeRoot(actor.organization) }, userId, {
      type: 'CREDENTIAL_TYPE_LOGIN',
      publicKey: key,
      name: sessionKeyName('Login', nowMs, key),
      seconds,
      sessionProfileId,
      invalidateExisting: invalidateExisting ?? false,
    });
    return { session };
  },
});
