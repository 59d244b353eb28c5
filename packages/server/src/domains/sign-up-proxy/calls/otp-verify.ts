import Type from 'typebox';
import { textShape } from '../../../lib/shapes.ts';
import { OtpIdShape } from '../../login/shapes/otp.ts';
import { defineProxyCall } from '../define.ts';
import { demand } from '../methods.ts';
import type { ProxyActivity, Visit } from '../visit.ts';

const ReplyShape = Type.Object({ verificationToken: Type.String() });

export const otpVerify = defineProxyCall({
  name: 'otp_verify',
  summary: 'Exchange a one-time code for a verification token.',
  body: Type.Object({
    otpId: OtpIdShape,
    otpCode: textShape(64),
    publicKey: Type.Optional(textShape(512)),
  }),
  reply: ReplyShape,
  demands: () => [demand('email', 'sms')],
  answer: (visit, { otpId, otpCode, publicKey }) =>
    verify(visit, {
      type: 'ACTIVITY_TYPE_VERIFY_OTP',
      parameters: { otpId, otpCode, ...(publicKey && { publicKey }) },
    }),
});

export const otpVerifyV2 = defineProxyCall({
  name: 'otp_verify_v2',
  summary:
    'Exchange a one-time code, encrypted together with a public key, for a verification token bound to that key.',
  body: Type.Object({ otpId: OtpIdShape, encryptedOtpBundle: textShape(4096) }),
  reply: ReplyShape,
  demands: () => [demand('email', 'sms')],
  answer: (visit, parameters) => verify(visit, { type: 'ACTIVITY_TYPE_VERIFY_OTP_V2', parameters }),
});

async function verify(visit: Visit, { type, parameters }: ProxyActivity): Promise<{ verificationToken: string }> {
  const seconds = visit.config.settings.verificationTokenExpirationSeconds;
  const expirationSeconds = seconds && String(Math.min(seconds, visit.app.config.verificationSecondsMax));
  const { result } = await visit.run<{ verificationToken: string }>({
    type,
    parameters: { ...parameters, ...(expirationSeconds && { expirationSeconds }) },
  });
  return { verificationToken: result.verificationToken };
}
