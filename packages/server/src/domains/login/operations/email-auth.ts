import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { TreeTrust } from '../../../core/rules.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { EMAIL_AUTH_FEATURE, requireFeature } from '../../../engine/login-features.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { NameShape } from '../../../lib/shapes.ts';
import { emailAuthMail } from '../../messages/templates/bundle.ts';
import { readLoginAhead } from '../login-session.ts';
import { checkMailedKey, prepareMailedKey, storeMailedKey, withAppName } from '../mailed-key.ts';
import { methodOfType, userOfContact } from '../otp/contacts.ts';
import { sessionKeyName } from '../session-keys.ts';
import { ContactShape, NamedEmailCustomizationShape, SENDER_PARAMS, UNNAMED_PARAMS } from '../shapes/otp.ts';
import { SecondsShape } from '../shapes/sessions.ts';

const base = {
  email: ContactShape,
  targetPublicKey: TargetPublicKeyShape,
  apiKeyName: Type.Optional(NameShape),
  expirationSeconds: Type.Optional(SecondsShape),
  invalidateExisting: Type.Optional(Type.Boolean()),
  ...SENDER_PARAMS,
};
const UnnamedShape = Type.Object({ ...base, ...UNNAMED_PARAMS });

export const emailAuth = defineActivity({
  name: 'email_auth',
  type: 'ACTIVITY_TYPE_EMAIL_AUTH_V3',
  summary: 'Mail an API key to a user, encrypted to the target key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE' },
  credentials: 'mints',
  parentRuns: true,
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  sendsMessages: true,
  parameters: Type.Object({ ...base, emailCustomization: NamedEmailCustomizationShape }),
  older: [
    legacy('ACTIVITY_TYPE_EMAIL_AUTH_V2', UnnamedShape, withAppName),
    legacy('ACTIVITY_TYPE_EMAIL_AUTH', UnnamedShape, withAppName),
  ],
  sentence: ({ email }) =>
    lookClosely(
      say`Mail a key that logs somebody in to ${named(email)}.`,
      'logs somebody in',
      'Whoever reads this mailbox can log in. I know whose it is.',
    ),
  result: Type.Object({ userId: Type.String(), apiKeyId: Type.String() }),
  check: checkMailedKey,
  async describe(context, { email }) {
    await requireFeature(context, EMAIL_AUTH_FEATURE);
    return await userOfContact(context, 'email', email);
  },
  // The key exists for nobody but a reader of the mail, so that it stands for the code that another login would ask
  // for.
  subject: ({ id }) => ({ userId: id, method: methodOfType('OTP_TYPE_EMAIL'), credentialId: id }),
  async prepare(context, parameters, user) {
    const proxy = await context.read(TreeTrust).ofOrganization(treeRoot(context.actor.organization));
    const usual = { templateId: proxy?.settings.emailAuthTemplateId, field: 'emailAuthTemplateId' };
    return await prepareMailedKey(context, parameters, user, emailAuthMail, usual);
  },
  readAhead: (context, { user }) => readLoginAhead(context, { userId: user.id }),
  async execute(context, { apiKeyName, invalidateExisting }, mailed) {
    const { id } = await storeMailedKey(context, mailed, {
      type: 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
      name: apiKeyName ?? sessionKeyName('Email Auth', context.nowMs),
      invalidateExisting: invalidateExisting ?? false,
    });
    return { userId: mailed.user.id, apiKeyId: id };
  },
});
