import Type from 'typebox';
import { textShape } from '../../../lib/shapes.ts';
import { ContactShape, OtpTypeShape } from '../../login/shapes/otp.ts';
import { defineProxyCall } from '../define.ts';
import { ofContact } from '../methods.ts';
import type { ProxyActivity, Visit } from '../visit.ts';

const BodyShape = Type.Object({
  otpType: OtpTypeShape,
  contact: ContactShape,
  emailCustomization: Type.Optional(Type.Object({ templateId: Type.Optional(textShape(255)) })),
});
type Body = Type.Static<typeof BodyShape>;

const APP_NAME_LENGTH_MAX = 100;

export const otpInit = defineProxyCall({
  name: 'otp_init',
  summary: 'Send a one-time code to an email address or a phone number.',
  body: BodyShape,
  reply: Type.Object({ otpId: Type.String() }),
  demands: (_visit, { otpType }) => [ofContact(otpType)],
  needsCaptcha: () => true,
  sendsCode: true,
  async answer(visit, body) {
    const { result } = await visit.run<{ otpId: string }>(initOf(visit, body, 'ACTIVITY_TYPE_INIT_OTP_V2'));
    return { otpId: result.otpId };
  },
});

export const otpInitV2 = defineProxyCall({
  name: 'otp_init_v2',
  summary: 'Send a one-time code; the answer holds the key to which the code is encrypted later.',
  body: BodyShape,
  reply: Type.Object({ otpId: Type.String(), otpEncryptionTargetBundle: Type.String() }),
  demands: (_visit, { otpType }) => [ofContact(otpType)],
  needsCaptcha: () => true,
  sendsCode: true,
  async answer(visit, body) {
    const { result } = await visit.run<{ otpId: string; otpEncryptionTargetBundle: string }>(
      initOf(visit, body, 'ACTIVITY_TYPE_INIT_OTP_V3'),
    );
    return { otpId: result.otpId, otpEncryptionTargetBundle: result.otpEncryptionTargetBundle };
  },
});

function initOf(visit: Visit, { otpType, contact, emailCustomization }: Body, type: string): ProxyActivity {
  const { app, config, parent } = visit;
  const { settings } = config;
  const { appName, ...customization } = settings.emailCustomizationParams ?? {};
  const templateId = emailCustomization?.templateId || settings.otpTemplateId || customization.templateId;
  const seconds = settings.otpExpirationSeconds;
  return {
    type,
    parameters: {
      otpType,
      contact,
      appName: appName || [...parent.name].slice(0, APP_NAME_LENGTH_MAX).join(''),
      otpLength: settings.otpLength,
      alphanumeric: settings.otpAlphanumeric,
      emailCustomization: { ...customization, ...(templateId !== undefined && { templateId }) },
      ...(settings.smsCustomizationParams && { smsCustomization: settings.smsCustomizationParams }),
      ...(settings.sendFromEmailAddress && { sendFromEmailAddress: settings.sendFromEmailAddress }),
      ...(settings.sendFromEmailSenderName && { sendFromEmailSenderName: settings.sendFromEmailSenderName }),
      ...(settings.replyToEmailAddress && { replyToEmailAddress: settings.replyToEmailAddress }),
      // The operator may have lowered the bound since.
      ...(seconds !== undefined && { expirationSeconds: String(Math.min(seconds, app.config.otpSecondsMax)) }),
    },
  };
}
