import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { targetKeyOf } from '../../../engine/holder.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { UserId } from '../../../lib/ids.ts';
import { NameShape, textShape } from '../../../lib/shapes.ts';
import { UserReader, UserStore } from '../../users/store/users.ts';
import { readLoginAhead } from '../login-session.ts';
import { sessionSentence } from '../sentences.ts';
import { addSessionKey, parseSessionSeconds, SESSION_SECONDS, sessionKeyName } from '../session-keys.ts';
import { SecondsShape } from '../shapes/sessions.ts';

const base = {
  targetPublicKey: TargetPublicKeyShape,
  apiKeyName: Type.Optional(NameShape),
  expirationSeconds: Type.Optional(SecondsShape),
};

export const createReadWriteSession = defineActivity({
  name: 'create_read_write_session',
  type: 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2',
  resultKey: 'createReadWriteSessionResultV2',
  summary: 'Make a session key for a user, oneself unless told otherwise, encrypted to the target key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  credentials: 'mints',
  lock: 'shared',
  findsSubOrganization: true,
  parameters: Type.Object({
    ...base,
    userId: Type.Optional(textShape(64)),
    /** How the first version names the user. */
    email: Type.Optional(textShape(254)),
    invalidateExisting: Type.Optional(Type.Boolean()),
  }),
  older: [
    legacy(
      'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION',
      Type.Object({ ...base, email: textShape(254) }),
      (parameters) => parameters,
      { resultKey: 'createReadWriteSessionResult' },
    ),
  ],
  sentence: ({ userId, expirationSeconds, invalidateExisting }, context) =>
    sessionSentence(context, { userId: userId === '' ? undefined : userId, expirationSeconds, invalidateExisting }),
  result: Type.Object({
    organizationId: Type.String(),
    organizationName: Type.String(),
    userId: Type.String(),
    username: Type.String(),
    apiKeyId: Type.String(),
    credentialBundle: Type.String(),
  }),
  check({ targetPublicKey, expirationSeconds }) {
    targetKeyOf(targetPublicKey);
    parseSessionSeconds(expirationSeconds);
  },
  // Whose it becomes is known from the request alone, unless an email names another.
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId, email }, proposer) =>
    email === undefined || email.toLowerCase() === proposer.user.email?.toLowerCase()
      ? userId || proposer.userId
      : undefined,
  async describe({ read, actor }, { userId, email }) {
    const { organizationId } = actor;
    if (email === undefined) return await read(UserReader).get(organizationId, userId || actor.userId);
    const user = await read(UserReader).byContact(organizationId, 'email', email);
    if (user === undefined || (userId && user.id !== userId)) {
      throw new ApiError('RESOURCE_NOT_FOUND', 'no user with this email in this organization');
    }
    return user;
  },
  async prepare({ keyring }, { targetPublicKey }, user) {
    return { user, ...(await keyring.createCredential(targetKeyOf(targetPublicKey))) };
  },
  readAhead: (context, { user }) => readLoginAhead(context, { userId: user.id }),
  async execute(context, parameters, { user, publicKey, credentialBundle }) {
    const { store, actor, nowMs } = context;
    const { organizationId, organization } = actor;
    const { apiKeyName, expirationSeconds, invalidateExisting, email } = parameters;
    // The email may have become somebody else's since the user was looked up by it.
    if (email !== undefined && (await store(UserStore).byContact(organizationId, 'email', email))?.id !== user.id) {
      throw new ApiError('CONFLICT', "the email is no longer this user's, try again");
    }
    const key = await addSessionKey(context, { organizationId, rootId: treeRoot(organization) }, user.id as UserId, {
      type: 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
      publicKey,
      name: apiKeyName ?? sessionKeyName('Read Write Session', nowMs),
      seconds: parseSessionSeconds(expirationSeconds) ?? SESSION_SECONDS,
      invalidateExisting: invalidateExisting ?? false,
    });
    return {
      organizationId,
      organizationName: organization.name,
      userId: user.id,
      username: user.name,
      apiKeyId: key.id,
      credentialBundle,
    };
  },
});
