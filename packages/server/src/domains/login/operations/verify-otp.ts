import Type, { type Static } from 'typebox';
import type { Config } from '../../../config/config.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { textShape } from '../../../lib/shapes.ts';
import { checkCode, findCode, takeAttempt, useCode } from '../otp/attempts.ts';
import { lifeOf } from '../otp/seconds.ts';
import { sessionPublicKey } from '../session-keys.ts';
import { CODE_LIFE_PARAMS, OtpIdShape } from '../shapes/otp.ts';

const base = { otpId: OtpIdShape, ...CODE_LIFE_PARAMS };
const ParametersShape = Type.Object({ ...base, encryptedOtpBundle: textShape(4096) });

/** The first version brings the code as it is, with or without a key; the other one both, encrypted. */
type Parameters = Static<typeof ParametersShape> & { readonly otpCode?: string; readonly publicKey?: string };

const tokenSeconds = (config: Config, asked: string | undefined): number =>
  lifeOf(asked, { usual: config.verificationSeconds, max: config.verificationSecondsMax });

export const verifyOtp = defineActivity({
  name: 'verify_otp',
  type: 'ACTIVITY_TYPE_VERIFY_OTP_V2',
  summary: 'Turn a one-time code into a token that says whose contact it was sent to.',
  policy: { governedBy: 'policy', resource: 'OTP', action: 'VERIFY' },
  // The token logs in as whoever has the contact, without a profile.
  credentials: 'mints',
  parentRuns: true,
  proxyRuns: true,
  lock: 'shared',
  parameters: Type.Unsafe<Parameters>(ParametersShape),
  older: [
    legacy(
      'ACTIVITY_TYPE_VERIFY_OTP',
      Type.Object({ ...base, otpCode: textShape(64), publicKey: Type.Optional(textShape(512)) }),
      (parameters): Parameters => ({ ...parameters, encryptedOtpBundle: '' }),
      { secrets: ['otpCode'] },
    ),
  ],
  sentence: () => say`Check a one-time code and give out a token that proves it.`,
  result: Type.Object({ verificationToken: Type.String() }),
  secretResults: ['verificationToken'],
  check({ publicKey }) {
    if (publicKey) sessionPublicKey(publicKey);
  },
  async describe(context, { otpId, otpCode, expirationSeconds }) {
    tokenSeconds(context.config, expirationSeconds);
    const isEncrypted = otpCode === undefined;
    return await findCode(context, otpId, (otp) => otp.userId === undefined && otp.isEncrypted === isEncrypted);
  },
  attempt: (context, _parameters, otp) => takeAttempt(context, otp),
  async prepare(context, parameters, otp) {
    const { actor, config, keyring, newId, nowMs } = context;
    const { encryptedOtpBundle, otpCode } = parameters;
    const attempt = otpCode === undefined ? { encryptedBundle: encryptedOtpBundle } : { code: otpCode };
    const { publicKey = parameters.publicKey } = await checkCode(context, otp, attempt);
    const expiresAtMs = nowMs + tokenSeconds(config, parameters.expirationSeconds) * 1000;
    const verificationToken = await keyring.signVerificationToken({
      id: newId(),
      verificationType: otp.type,
      contact: otp.contact,
      organizationId: actor.organizationId,
      expiresAtMs,
      ...(publicKey && { publicKey: Buffer.from(sessionPublicKey(publicKey), 'hex') }),
    });
    return { otp, verificationToken, expiresAtMs };
  },
  useProof: (context, _parameters, { otp }) => useCode(context, otp),
  secretResult: ({ verificationToken, expiresAtMs }) => ({ values: { verificationToken }, expiresAtMs }),
  execute: async (_context, _parameters, { verificationToken }) => ({ verificationToken }),
});
