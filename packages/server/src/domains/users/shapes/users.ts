import Type from 'typebox';
import { LIMITS } from '../../../lib/limits.ts';
import { IdListOrEmptyShape, listShape, NameShape, TimestampShape } from '../../../lib/shapes.ts';
import {
  ApiKeyParamsShape,
  ApiKeyShape,
  AuthenticatorParamsShape,
  AuthenticatorShape,
  OauthProviderParamsShape,
  OauthProviderShape,
} from './credentials.ts';
import { MfaPolicyShape } from './mfa.ts';

/**
 * Optional contacts are also accepted as the empty string, which some clients send for none. The domain is judged where
 * an address is stored or written to, with a code of its own.
 */
export const EmailOrEmptyShape = Type.String({
  pattern: '^$|^[^\\s@\\u0000-\\u001f\\u007f]{1,64}@[^\\s@\\u0000-\\u001f\\u007f]+$',
  maxLength: 254,
  'x-trim': true,
  'x-message': 'must be an email address',
  'x-code': 'INVALID_EMAIL',
});
export const PhoneOrEmptyShape = Type.String({
  pattern: '^$|^\\+[1-9][0-9]{7,14}$',
  'x-trim': true,
  'x-message': 'must be an E.164 phone number: + and 8 to 15 digits',
});

/** Our own addition: a user tag of this name is made in the new sub-organization, and the user has it. */
export const UserTagNameShape = Type.String({
  pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f]{1,${LIMITS.nameLength}}$`,
  'x-trim': true,
  'x-message': `must be 1 to ${LIMITS.nameLength} characters without control characters (an addition of this service)`,
});

/**
 * A root user of a new sub-organization (protocol/organizations 1.3); the three lists are required and may be empty.
 */
export const RootUserParamsShape = Type.Object({
  userName: NameShape,
  userEmail: Type.Optional(EmailOrEmptyShape),
  userPhoneNumber: Type.Optional(PhoneOrEmptyShape),
  apiKeys: listShape(ApiKeyParamsShape),
  authenticators: listShape(AuthenticatorParamsShape),
  oauthProviders: listShape(OauthProviderParamsShape),
  userTagName: Type.Optional(UserTagNameShape),
});
export type RootUserParams = Type.Static<typeof RootUserParamsShape>;

export const UserParamsShape = Type.Object({
  userName: NameShape,
  userEmail: Type.Optional(EmailOrEmptyShape),
  userPhoneNumber: Type.Optional(PhoneOrEmptyShape),
  apiKeys: listShape(ApiKeyParamsShape),
  authenticators: listShape(AuthenticatorParamsShape),
  oauthProviders: listShape(OauthProviderParamsShape),
  userTags: IdListOrEmptyShape,
});
export type UserParams = Type.Static<typeof UserParamsShape>;

export const UserShape = Type.Object({
  userId: Type.String(),
  userName: Type.String(),
  userEmail: Type.Optional(Type.String()),
  userPhoneNumber: Type.Optional(Type.String()),
  authenticators: Type.Array(AuthenticatorShape),
  apiKeys: Type.Array(ApiKeyShape),
  userTags: Type.Array(Type.String()),
  oauthProviders: Type.Array(OauthProviderShape),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  mfaPolicies: Type.Array(MfaPolicyShape),
});

export const TagShape = Type.Object({
  tagId: Type.String(),
  tagName: Type.String(),
  tagType: Type.Enum(['TAG_TYPE_USER', 'TAG_TYPE_PRIVATE_KEY']),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

export const AccessTypeShape = Type.Enum(['ACCESS_TYPE_WEB', 'ACCESS_TYPE_API', 'ACCESS_TYPE_ALL']);
