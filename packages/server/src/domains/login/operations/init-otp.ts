import Type, { type Static } from 'typebox';
import { named, say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { CODE_FEATURES, requireFeature } from '../../../engine/login-features.ts';
import { checkCodeRequest, codeSeconds, prepareCode, storeCode } from '../otp/new-code.ts';
import {
  appNameOf,
  CODE_FORMAT_PARAMS,
  CODE_LIFE_PARAMS,
  CODE_PARAMS,
  NAMED_PARAMS,
  UNNAMED_PARAMS,
} from '../shapes/otp.ts';

const base = { ...CODE_PARAMS, ...CODE_FORMAT_PARAMS, ...CODE_LIFE_PARAMS };
const ParametersShape = Type.Object({ ...base, ...NAMED_PARAMS });

/** Versions whose codes are sent back in the clear are marked when they are read; no request can bring the mark. */
type Parameters = Static<typeof ParametersShape> & { readonly isPlain?: true };

const PLAIN = {
  resultKey: 'initOtpResult',
  result: Type.Object({ otpId: Type.String() }),
  toResult: ({ otpId }: { otpId: string }) => ({ otpId }),
};

export const initOtp = defineActivity({
  name: 'init_otp',
  type: 'ACTIVITY_TYPE_INIT_OTP_V3',
  resultKey: 'initOtpResultV2',
  summary: 'Send a one-time code to an email address or a phone number.',
  policy: { governedBy: 'policy', resource: 'OTP', action: 'CREATE' },
  // A code proves nothing before verify_otp, which is closed to such sessions.
  credentials: 'none',
  parentRuns: true,
  proxyRuns: true,
  lock: 'shared',
  sendsMessages: true,
  parameters: Type.Unsafe<Parameters>(ParametersShape),
  older: [
    legacy(
      'ACTIVITY_TYPE_INIT_OTP_V2',
      ParametersShape,
      (parameters): Parameters => ({ ...parameters, isPlain: true }),
      PLAIN,
    ),
    legacy(
      'ACTIVITY_TYPE_INIT_OTP',
      Type.Object({ ...base, ...UNNAMED_PARAMS }),
      (parameters): Parameters => ({
        ...parameters,
        appName: appNameOf(parameters.emailCustomization),
        isPlain: true,
      }),
      PLAIN,
    ),
  ],
  sentence: ({ otpType, contact }) =>
    say`Send a one-time code to ${named(contact)} by ${otpType === 'OTP_TYPE_SMS' ? 'text message' : 'mail'}.`,
  result: Type.Object({ otpId: Type.String(), otpEncryptionTargetBundle: Type.String() }),
  check: checkCodeRequest,
  async describe(context, { otpType, expirationSeconds }) {
    codeSeconds(context.config, expirationSeconds);
    await requireFeature(context, CODE_FEATURES[otpType]);
  },
  prepare: (context, parameters) => prepareCode(context, parameters, { isEncrypted: parameters.isPlain !== true }),
  async execute(context, { userIdentifier }, code) {
    await storeCode(context, code, userIdentifier);
    return { otpId: code.otp.id, otpEncryptionTargetBundle: code.targetBundle };
  },
});
