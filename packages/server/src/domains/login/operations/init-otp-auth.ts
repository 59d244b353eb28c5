import Type, { type Static } from 'typebox';
import { named, say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { CODE_FEATURES, requireFeature } from '../../../engine/login-features.ts';
import { contactOfType, userOfContact } from '../otp/contacts.ts';
import { checkCodeRequest, codeSeconds, prepareCode, storeCode } from '../otp/new-code.ts';
import {
  appNameOf,
  CODE_FORMAT_PARAMS,
  CODE_LIFE_PARAMS,
  CODE_PARAMS,
  NAMED_PARAMS,
  UNNAMED_PARAMS,
} from '../shapes/otp.ts';

const ParametersShape = Type.Object({ ...CODE_PARAMS, ...CODE_FORMAT_PARAMS, ...CODE_LIFE_PARAMS, ...NAMED_PARAMS });

/** The first version, which cannot say how long a code is to be, is marked when it is read. */
type Parameters = Static<typeof ParametersShape> & { readonly hasFixedLength?: true };

export const initOtpAuth = defineActivity({
  name: 'init_otp_auth',
  type: 'ACTIVITY_TYPE_INIT_OTP_AUTH_V3',
  resultKey: 'initOtpAuthResultV2',
  summary: 'Send a one-time code for otp_auth to the email address or phone number of a user.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE', params: ['otp_length'] },
  // A code proves nothing before otp_auth, which is closed to such sessions.
  credentials: 'none',
  parentRuns: true,
  lock: 'shared',
  sendsMessages: true,
  parameters: Type.Unsafe<Parameters>(ParametersShape),
  older: [
    legacy(
      'ACTIVITY_TYPE_INIT_OTP_AUTH_V2',
      Type.Object({ ...CODE_PARAMS, ...CODE_FORMAT_PARAMS, ...UNNAMED_PARAMS }),
      (parameters): Parameters => ({ ...parameters, appName: appNameOf(parameters.emailCustomization) }),
      { resultKey: 'initOtpAuthResultV2' },
    ),
    legacy(
      'ACTIVITY_TYPE_INIT_OTP_AUTH',
      Type.Object({ ...CODE_PARAMS, ...UNNAMED_PARAMS }),
      (parameters): Parameters => ({
        ...parameters,
        appName: appNameOf(parameters.emailCustomization),
        hasFixedLength: true,
      }),
      { policyParams: [] },
    ),
  ],
  sentence: ({ otpType, contact }) =>
    say`Send a one-time code that logs in to ${named(contact)} by ${otpType === 'OTP_TYPE_SMS' ? 'text message' : 'mail'}.`,
  result: Type.Object({ otpId: Type.String() }),
  check: checkCodeRequest,
  // Zero where the request leaves it to the service.
  exposes: ({ otpLength, hasFixedLength }) => (hasFixedLength ? {} : { otp_length: BigInt(otpLength ?? 0) }),
  async describe(context, { otpType, contact, expirationSeconds }) {
    codeSeconds(context.config, expirationSeconds);
    await requireFeature(context, CODE_FEATURES[otpType]);
    return await userOfContact(context, contactOfType(otpType), contact);
  },
  prepare: (context, parameters, user) => prepareCode(context, parameters, { user, isEncrypted: false }),
  async execute(context, { userIdentifier }, code) {
    await storeCode(context, code, userIdentifier);
    return { otpId: code.otp.id };
  },
});
