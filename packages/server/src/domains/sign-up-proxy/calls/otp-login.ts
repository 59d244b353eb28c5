import Type, { type Static } from 'typebox';
import { ClientSignatureShape, VerificationTokenShape } from '../../../authn/shapes.ts';
import { textShape } from '../../../lib/shapes.ts';
import { holderOfContact, organizationOfLogin, readVerification } from '../accounts.ts';
import { defineProxyCall } from '../define.ts';
import { type Demand, ofVerification } from '../methods.ts';
import type { Visit } from '../visit.ts';
import { login, OrganizationShape, SessionShape } from './login.ts';

const base = {
  verificationToken: VerificationTokenShape,
  publicKey: textShape(512),
  invalidateExisting: Type.Optional(Type.Boolean()),
  organizationId: Type.Optional(OrganizationShape),
};
const BodyShape = Type.Object({ ...base, clientSignature: Type.Optional(ClientSignatureShape) });
type Body = Static<typeof BodyShape>;

export const otpLogin = defineProxyCall({
  name: 'otp_login',
  summary: 'Log in with a verification token: registers a session key.',
  body: BodyShape,
  reply: SessionShape,
  demands,
  answer: (visit, body) => logIn(visit, body, 'ACTIVITY_TYPE_OTP_LOGIN'),
});

export const otpLoginV2 = defineProxyCall({
  name: 'otp_login_v2',
  summary: 'Log in with a verification token and a signature of the key that it is bound to: registers a session key.',
  body: Type.Object({ ...base, clientSignature: ClientSignatureShape }),
  reply: SessionShape,
  demands,
  answer: (visit, body) => logIn(visit, body, 'ACTIVITY_TYPE_OTP_LOGIN_V2'),
});

function demands(visit: Visit, { verificationToken }: Body): readonly Demand[] {
  return [ofVerification(readVerification(visit, verificationToken))];
}

async function logIn(
  visit: Visit,
  { organizationId, ...parameters }: Body,
  type: string,
): Promise<{ session: string }> {
  const token = readVerification(visit, parameters.verificationToken);
  const place = await organizationOfLogin(visit, organizationId, () => holderOfContact(visit, token));
  return await login(visit, place, type, parameters);
}
