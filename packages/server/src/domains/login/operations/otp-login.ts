import Type, { type Static } from 'typebox';
import { requireClientSignature } from '../../../authn/client-signature.ts';
import { contactKindOf, requireIssuedFor, useOf } from '../../../authn/identity/tokens.ts';
import { ClientSignatureShape, VerificationTokenShape } from '../../../authn/shapes.ts';
import type { OtpType } from '../../../core/contact.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { CODE_FEATURES, requireOwnFeature } from '../../../engine/login-features.ts';
import { ApiError } from '../../../lib/errors.ts';
import { consumeForLogin } from '../login-proof.ts';
import {
  checkSession,
  exposeSession,
  openLoginSession,
  readLoginAhead,
  sessionProfileFor,
  signLoginSession,
} from '../login-session.ts';
import { methodOfType, userOfContact } from '../otp/contacts.ts';
import { sessionSentence } from '../sentences.ts';
import { sessionPublicKey } from '../session-keys.ts';
import { SESSION_PARAMS } from '../shapes/sessions.ts';

const base = { verificationToken: VerificationTokenShape, ...SESSION_PARAMS };
const ParametersShape = Type.Object({ ...base, clientSignature: ClientSignatureShape });

/** The first version also takes tokens that are bound to no key, and is marked when it is read. */
type Parameters = Omit<Static<typeof ParametersShape>, 'clientSignature'> & {
  readonly clientSignature?: Static<typeof ClientSignatureShape>;
  readonly allowsUnbound?: true;
};

export const otpLogin = defineActivity({
  name: 'otp_login',
  type: 'ACTIVITY_TYPE_OTP_LOGIN_V2',
  summary: 'Log in the user whose contact a verification token proves: registers a session key.',
  policy: { governedBy: 'policy', resource: 'AUTH', action: 'CREATE', params: ['session_profile_id'] },
  credentials: 'inherits',
  parentRuns: true,
  proxyRuns: true,
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  parameters: Type.Unsafe<Parameters>(ParametersShape),
  secrets: ['verificationToken'],
  older: [
    legacy(
      'ACTIVITY_TYPE_OTP_LOGIN',
      Type.Object({ ...base, clientSignature: Type.Optional(ClientSignatureShape) }),
      (parameters): Parameters => ({ ...parameters, allowsUnbound: true }),
      { secrets: ['verificationToken'] },
    ),
  ],
  sentence: ({ expirationSeconds, invalidateExisting, sessionProfileId }, context) =>
    sessionSentence(context, { by: 'a one-time code', expirationSeconds, invalidateExisting, sessionProfileId }),
  result: Type.Object({ session: Type.String() }),
  exposes: exposeSession,
  check: checkSession,
  async describe(context, { verificationToken, publicKey, clientSignature, allowsUnbound, sessionProfileId }) {
    const { read, tokens, actor, nowMs } = context;
    await sessionProfileFor(read, actor, sessionProfileId);
    const token = tokens.verification(verificationToken, nowMs);
    requireIssuedFor(token, actor.organization);
    if (token.publicKey === undefined && allowsUnbound !== true) {
      throw new ApiError('INVALID_CLIENT_SIGNATURE', 'clientSignature: the verification token is bound to no key');
    }
    const usage = { type: 'USAGE_TYPE_LOGIN', publicKey: sessionPublicKey(publicKey) } as const;
    await requireClientSignature(token, clientSignature, usage);
    await requireOwnFeature(context, CODE_FEATURES[token.verificationType as OtpType]);
    return { token, user: await userOfContact(context, contactKindOf(token), token.contact) };
  },
  subject: ({ token, user }) => ({
    userId: user.id,
    method: methodOfType(token.verificationType as OtpType),
    credentialId: token.id,
    token: useOf(token),
  }),
  async prepare(context, parameters, { token, user }) {
    return { token, login: await signLoginSession(context, parameters, user.id) };
  },
  readAhead: (context, { login }) => readLoginAhead(context, login),
  async execute(context, { invalidateExisting }, { token, login }) {
    const method = methodOfType(token.verificationType as OtpType);
    const { userId } = login;
    await consumeForLogin(context, { userId, method, token: useOf(token), contact: token.contact });
    return await openLoginSession(context, login, invalidateExisting);
  },
});
