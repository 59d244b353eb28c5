import Type from 'typebox';
import { TimestampShape } from '../../lib/shapes.ts';

export const FEATURE_NAMES = [
  'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY',
  'FEATURE_NAME_WEBAUTHN_ORIGINS',
  'FEATURE_NAME_EMAIL_AUTH',
  'FEATURE_NAME_EMAIL_RECOVERY',
  'FEATURE_NAME_WEBHOOK',
  'FEATURE_NAME_SMS_AUTH',
  'FEATURE_NAME_OTP_EMAIL_AUTH',
  'FEATURE_NAME_AUTH_PROXY',
  'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED',
  'FEATURE_NAME_SWAP_CONFIG',
  'FEATURE_NAME_EARN_CONFIG',
] as const;

export const FeatureNameShape = Type.Enum([...FEATURE_NAMES]);
export type FeatureName = (typeof FEATURE_NAMES)[number];

export const FeatureShape = Type.Object({ name: Type.Optional(Type.String()), value: Type.Optional(Type.String()) });

export const QuorumShape = Type.Object({ threshold: Type.Integer(), userIds: Type.Array(Type.String()) });

export const InvitationStatusShape = Type.Enum([
  'INVITATION_STATUS_CREATED',
  'INVITATION_STATUS_ACCEPTED',
  'INVITATION_STATUS_REVOKED',
]);

export const InvitationShape = Type.Object({
  invitationId: Type.String(),
  receiverUserName: Type.String(),
  receiverEmail: Type.String(),
  receiverUserTags: Type.Array(Type.String()),
  accessType: Type.String(),
  status: InvitationStatusShape,
  senderUserId: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});
