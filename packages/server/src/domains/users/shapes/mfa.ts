import Type from 'typebox';
import { IdShape, integerShape, TimestampShape } from '../../../lib/shapes.ts';

export const AuthenticationTypeShape = Type.Enum([
  'AUTHENTICATION_TYPE_EMAIL_OTP',
  'AUTHENTICATION_TYPE_SMS_OTP',
  'AUTHENTICATION_TYPE_PASSKEY',
  'AUTHENTICATION_TYPE_API_KEY',
  'AUTHENTICATION_TYPE_OAUTH',
  'AUTHENTICATION_TYPE_SESSION',
]);

export const AuthenticationMethodShape = Type.Object({
  type: AuthenticationTypeShape,
  id: Type.Optional(IdShape),
});

export const RequiredMethodShape = Type.Object({
  any: Type.Array(AuthenticationMethodShape, { minItems: 1, maxItems: 10 }),
});

export const RequiredMethodsShape = Type.Array(RequiredMethodShape, { minItems: 1, maxItems: 10 });

export const OrderShape = integerShape(0);

/** protocol/login 10.1. */
export const MfaPolicyShape = Type.Object({
  mfaPolicyId: Type.String(),
  mfaPolicyName: Type.String(),
  condition: Type.String(),
  requiredAuthenticationMethods: RequiredMethodsShape,
  order: Type.Integer(),
  notes: Type.Optional(Type.String()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});
