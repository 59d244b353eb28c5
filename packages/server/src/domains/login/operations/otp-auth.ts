import Type from 'typebox';
import { treeRoot, type User } from '../../../core/model.ts';
import { defineActivity } from '../../../engine/define.ts';
import { targetKeyOf } from '../../../engine/holder.ts';
import { CODE_FEATURES, requireOwnFeature } from '../../../engine/login-features.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { NameShape, textShape } from '../../../lib/shapes.ts';
import { markVerified } from '../../users/contacts.ts';
import { UserReader } from '../../users/store/users.ts';
import { readLoginAhead } from '../login-session.ts';
import { checkCode, findCode, takeAttempt, useCode, wrongCode } from '../otp/attempts.ts';
import { contactOfType, methodOfType } from '../otp/contacts.ts';
import { sessionSentence } from '../sentences.ts';
import { addSessionKey, parseSessionSeconds, SESSION_SECONDS, sessionKeyName } from '../session-keys.ts';
import { OtpIdShape } from '../shapes/otp.ts';
import { SecondsShape } from '../shapes/sessions.ts';

/** protocol/login 1.1 and 3.1. */
export const otpAuth = defineActivity({
  name: 'otp_auth',
  type: 'ACTIVITY_TYPE_OTP_AUTH',
  summary: 'Turn a one-time code of init_otp_auth into an API key of its user, encrypted to the target key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  credentials: 'mints',
  parentRuns: true,
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  parameters: Type.Object({
    otpId: OtpIdShape,
    otpCode: textShape(64),
    targetPublicKey: TargetPublicKeyShape,
    apiKeyName: Type.Optional(NameShape),
    expirationSeconds: Type.Optional(SecondsShape),
    invalidateExisting: Type.Optional(Type.Boolean()),
  }),
  secrets: ['otpCode'],
  sentence: ({ expirationSeconds, invalidateExisting }, context) =>
    sessionSentence(context, { by: 'a one-time code', expirationSeconds, invalidateExisting }),
  result: Type.Object({ userId: Type.String(), apiKeyId: Type.String(), credentialBundle: Type.String() }),
  check({ targetPublicKey, expirationSeconds }) {
    targetKeyOf(targetPublicKey);
    parseSessionSeconds(expirationSeconds);
  },
  async describe(context, { otpId }) {
    const otp = await findCode(context, otpId, ({ userId, isEncrypted }) => userId !== undefined && !isEncrypted);
    await requireOwnFeature(context, CODE_FEATURES[otp.type]);
    const user = await context.read(UserReader).find(context.actor.organizationId, otp.userId as string);
    // A contact that was taken from the user proves nothing of it any more.
    if (user === undefined || user[contactOfType(otp.type)] !== otp.contact) throw wrongCode();
    return { otp, user };
  },
  subject: ({ otp, user }) => ({ userId: user.id, method: methodOfType(otp.type), credentialId: otp.id }),
  attempt: (context, _parameters, { otp }) => takeAttempt(context, otp),
  async prepare(context, { otpCode, targetPublicKey }, { otp, user }) {
    await checkCode(context, otp, { code: otpCode });
    return { otp, user, ...(await context.keyring.createCredential(targetKeyOf(targetPublicKey))) };
  },
  readAhead: (context, { user }) => readLoginAhead(context, { userId: user.id }),
  async execute(context, parameters, { otp, user, publicKey, credentialBundle }) {
    const { store, actor, nowMs } = context;
    const { apiKeyName, expirationSeconds, invalidateExisting } = parameters;
    const { id: userId }: User = user;
    const place = { organizationId: actor.organizationId, rootId: treeRoot(actor.organization) };
    await useCode(context, otp);
    await markVerified(store, place, userId, contactOfType(otp.type), 'leave', nowMs);
    const key = await addSessionKey(context, place, userId, {
      type: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
      publicKey,
      name: apiKeyName ?? sessionKeyName('OTP Auth', nowMs),
      seconds: parseSessionSeconds(expirationSeconds) ?? SESSION_SECONDS,
      invalidateExisting: invalidateExisting ?? false,
    });
    return { userId, apiKeyId: key.id, credentialBundle };
  },
});
