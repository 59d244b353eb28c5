import Type from 'typebox';
import { OidcTokenShape } from '../../../authn/shapes.ts';
import { treeRoot } from '../../../core/model.ts';
import { defineActivity } from '../../../engine/define.ts';
import { targetKeyOf } from '../../../engine/holder.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { NameShape } from '../../../lib/shapes.ts';
import { readLoginAhead } from '../login-session.ts';
import { consumeIdentified, identify } from '../oauth/identify.ts';
import { sessionSentence } from '../sentences.ts';
import { addSessionKey, parseSessionSeconds, SESSION_SECONDS, sessionKeyName } from '../session-keys.ts';
import { SecondsShape } from '../shapes/sessions.ts';

export const oauth = defineActivity({
  name: 'oauth',
  type: 'ACTIVITY_TYPE_OAUTH',
  summary: 'Make an API key for a user of a sub-organization by an OpenID token, encrypted to the key it is bound to.',
  waitsOutside: true,
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  credentials: 'mints',
  parentRuns: true,
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  scope: 'sub-organization',
  parameters: Type.Object({
    oidcToken: OidcTokenShape,
    targetPublicKey: TargetPublicKeyShape,
    apiKeyName: Type.Optional(NameShape),
    expirationSeconds: Type.Optional(SecondsShape),
    invalidateExisting: Type.Optional(Type.Boolean()),
  }),
  secrets: ['oidcToken'],
  sentence: ({ expirationSeconds, invalidateExisting }, context) =>
    sessionSentence(context, { by: 'a token of an identity provider', expirationSeconds, invalidateExisting }),
  result: Type.Object({ userId: Type.String(), apiKeyId: Type.String(), credentialBundle: Type.String() }),
  check({ targetPublicKey, expirationSeconds }) {
    targetKeyOf(targetPublicKey);
    parseSessionSeconds(expirationSeconds);
  },
  describe: (context, { oidcToken, targetPublicKey }) => identify(context, oidcToken, targetPublicKey),
  subject: ({ subject }) => subject,
  async prepare({ keyring }, { targetPublicKey }, identified) {
    return { identified, ...(await keyring.createCredential(targetKeyOf(targetPublicKey))) };
  },
  readAhead: (context, { identified }) => readLoginAhead(context, identified),
  async execute(context, parameters, { identified, publicKey, credentialBundle }) {
    const { actor, nowMs } = context;
    const { organizationId, organization } = actor;
    const { apiKeyName, expirationSeconds, invalidateExisting } = parameters;
    const { userId } = identified;
    await consumeIdentified(context, identified);
    const key = await addSessionKey(context, { organizationId, rootId: treeRoot(organization) }, userId, {
      type: 'CREDENTIAL_TYPE_OAUTH_KEY_P256',
      publicKey,
      name: apiKeyName ?? sessionKeyName('Oauth', nowMs),
      seconds: parseSessionSeconds(expirationSeconds) ?? SESSION_SECONDS,
      invalidateExisting: invalidateExisting ?? false,
    });
    return { userId, apiKeyId: key.id, credentialBundle };
  },
});
