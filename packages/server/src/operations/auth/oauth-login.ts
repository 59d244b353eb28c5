import Type from 'typebox';
import { treeRoot } from '../../lib/model.ts';
import { defineActivity } from '../define.ts';
import { identify, requireStillRegistered } from '../oauth/identify.ts';
import { OidcTokenShape, SESSION_PARAMS } from '../shapes/auth.ts';
import {
  addSessionKey,
  parseSessionSeconds,
  sessionKeyName,
  sessionProfileFor,
  sessionPublicKey,
  sessionSeconds,
} from './session-keys.ts';
import { signSession } from './session-token.ts';

export const oauthLogin = defineActivity({
  name: 'oauth_login',
  type: 'ACTIVITY_TYPE_OAUTH_LOGIN',
  summary: 'Log a user of a sub-organization in by an OpenID token that is bound to the session key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  scope: 'sub-organization',
  parameters: Type.Object({ oidcToken: OidcTokenShape, ...SESSION_PARAMS }),
  secrets: ['oidcToken'],
  result: Type.Object({ session: Type.String() }),
  exposes: ({ sessionProfileId }) => ({ session_profile_id: sessionProfileId ?? '' }),
  check({ publicKey, expirationSeconds }) {
    sessionPublicKey(publicKey);
    parseSessionSeconds(expirationSeconds);
  },
  describe: (context, { oidcToken, publicKey }) => identify(context, oidcToken, publicKey),
  subject: ({ subject }) => subject,
  async prepare(context, { publicKey, expirationSeconds, sessionProfileId }, identified) {
    const { read, actor } = context;
    const profile = await sessionProfileFor(read, actor, sessionProfileId);
    const seconds = sessionSeconds(parseSessionSeconds(expirationSeconds), profile);
    const key = sessionPublicKey(publicKey);
    const { organizationId } = actor;
    const { userId } = identified;
    return {
      identified,
      key,
      seconds,
      sessionProfileId: profile?.id,
      session: await signSession(context, { organizationId, userId, publicKey: key, seconds, profile }),
    };
  },
  async execute(context, { invalidateExisting }, { identified, key, seconds, sessionProfileId, session }) {
    const { actor, nowMs } = context;
    const { organizationId, organization } = actor;
    await requireStillRegistered(context, identified);
    await addSessionKey(context, { organizationId, rootId: treeRoot(organization) }, identified.userId, {
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
