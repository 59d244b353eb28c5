import Type from 'typebox';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { EMAIL_RECOVERY_FEATURE, requireFeature } from '../../../engine/login-features.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { recoveryMail } from '../../messages/templates/bundle.ts';
import { readLoginAhead } from '../login-session.ts';
import { checkMailedKey, prepareMailedKey, storeMailedKey, withAppName } from '../mailed-key.ts';
import { userOfContact } from '../otp/contacts.ts';
import { sessionKeyName } from '../session-keys.ts';
import { ContactShape, NamedEmailCustomizationShape, SENDER_PARAMS, UNNAMED_PARAMS } from '../shapes/otp.ts';
import { SecondsShape } from '../shapes/sessions.ts';

const base = {
  email: ContactShape,
  targetPublicKey: TargetPublicKeyShape,
  expirationSeconds: Type.Optional(SecondsShape),
  ...SENDER_PARAMS,
};

export const initUserEmailRecovery = defineActivity({
  name: 'init_user_email_recovery',
  type: 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2',
  summary: 'Mail a key to a user that serves to register a new passkey and for nothing else.',
  policy: { governedBy: 'policy', resource: 'RECOVERY', action: 'CREATE' },
  credentials: 'mints',
  parentRuns: true,
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  sendsMessages: true,
  parameters: Type.Object({ ...base, emailCustomization: NamedEmailCustomizationShape }),
  older: [legacy('ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY', Type.Object({ ...base, ...UNNAMED_PARAMS }), withAppName)],
  sentence: ({ email }) =>
    lookClosely(
      say`Mail a recovery to ${named(email)}: it can add a passkey to that user.`,
      'opens a way in',
      'Whoever reads this mailbox can add a passkey. I know whose it is.',
    ),
  result: Type.Object({ userId: Type.String() }),
  check: checkMailedKey,
  async describe(context, { email }) {
    await requireFeature(context, EMAIL_RECOVERY_FEATURE);
    return await userOfContact(context, 'email', email);
  },
  prepare: (context, parameters, user) => prepareMailedKey(context, parameters, user, recoveryMail),
  readAhead: (context, { user }) => readLoginAhead(context, { userId: user.id }),
  async execute(context, _parameters, mailed) {
    await storeMailedKey(context, mailed, {
      type: 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
      name: sessionKeyName('Recovery', context.nowMs),
      // One recovery at a time: the newest mail is the one that works.
      invalidateExisting: true,
    });
    return { userId: mailed.user.id };
  },
});
