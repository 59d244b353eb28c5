import Type from 'typebox';
import { OidcTokenShape } from '../../../authn/shapes.ts';
import { listShape, NameShape, TimestampShape, textShape } from '../../../lib/shapes.ts';

/** Bounds of the encoded parts of a passkey registration; real ones stay far below. */
const ENCODED_MAX = 64 * 1024;

export const ApiKeyCurveShape = Type.Enum(['API_KEY_CURVE_P256', 'API_KEY_CURVE_SECP256K1', 'API_KEY_CURVE_ED25519']);

/** Judged with its own error code, so that the shape only bounds it. */
const ExpirationSecondsShape = Type.String({ maxLength: 32, 'x-decimal': true });

/** protocol/stamps 2.5. */
export const ApiKeyParamsShape = Type.Object({
  apiKeyName: NameShape,
  publicKey: textShape(512),
  curveType: ApiKeyCurveShape,
  expirationSeconds: Type.Optional(ExpirationSecondsShape),
});
export type ApiKeyParams = Type.Static<typeof ApiKeyParamsShape>;

/** Before curves could be chosen; always P-256. */
export const ApiKeyParamsV1Shape = Type.Object({
  apiKeyName: NameShape,
  publicKey: textShape(512),
  expirationSeconds: Type.Optional(ExpirationSecondsShape),
});

export const withP256 = (keys: readonly Type.Static<typeof ApiKeyParamsV1Shape>[]): ApiKeyParams[] =>
  keys.map((key) => ({ ...key, curveType: 'API_KEY_CURVE_P256' }));

const TransportShape = Type.Enum([
  'AUTHENTICATOR_TRANSPORT_BLE',
  'AUTHENTICATOR_TRANSPORT_INTERNAL',
  'AUTHENTICATOR_TRANSPORT_NFC',
  'AUTHENTICATOR_TRANSPORT_USB',
  'AUTHENTICATOR_TRANSPORT_HYBRID',
]);

/** protocol/stamps 4.1. */
export const AuthenticatorParamsShape = Type.Object({
  authenticatorName: NameShape,
  challenge: textShape(1024),
  attestation: Type.Object({
    credentialId: textShape(4096),
    clientDataJson: textShape(ENCODED_MAX),
    attestationObject: textShape(ENCODED_MAX),
    transports: listShape(TransportShape),
  }),
});
export type AuthenticatorParams = Type.Static<typeof AuthenticatorParamsShape>;

/** The browser-style object of the first version (protocol/activities 2.4). */
export const AuthenticatorParamsV1Shape = Type.Object({
  authenticatorName: NameShape,
  challenge: textShape(1024),
  /** Empty for a user that has no id yet. */
  userId: Type.Optional(textShape(64)),
  attestation: Type.Object({
    id: textShape(4096),
    rawId: Type.Optional(textShape(4096)),
    response: Type.Object({
      clientDataJson: textShape(ENCODED_MAX),
      attestationObject: textShape(ENCODED_MAX),
      transports: Type.Optional(listShape(TransportShape)),
    }),
  }),
});

export const fromBrowserStyle = (
  items: readonly Type.Static<typeof AuthenticatorParamsV1Shape>[],
): AuthenticatorParams[] =>
  items.map(({ authenticatorName, challenge, attestation }) => ({
    authenticatorName,
    challenge,
    attestation: {
      credentialId: attestation.rawId ?? attestation.id,
      clientDataJson: attestation.response.clientDataJson,
      attestationObject: attestation.response.attestationObject,
      transports: attestation.response.transports ?? [],
    },
  }));

/** Exactly one of token and claims. */
export const OauthProviderParamsShape = Type.Object({
  providerName: NameShape,
  oidcToken: Type.Optional(OidcTokenShape),
  oidcClaims: Type.Optional(Type.Object({ iss: textShape(2048), sub: textShape(2048), aud: textShape(2048) })),
});
export type OauthProviderParams = Type.Static<typeof OauthProviderParamsShape>;

/** Before claims could be given without a token. */
export const OauthProviderParamsV1Shape = Type.Object({ providerName: NameShape, oidcToken: OidcTokenShape });

export const OauthProviderShape = Type.Object({
  providerId: Type.String(),
  providerName: Type.String(),
  issuer: Type.String(),
  audience: Type.String(),
  subject: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

const CredentialShape = Type.Object({
  publicKey: Type.String(),
  type: Type.Enum([
    'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
    'CREDENTIAL_TYPE_API_KEY_P256',
    'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
    'CREDENTIAL_TYPE_API_KEY_SECP256K1',
    'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
    'CREDENTIAL_TYPE_API_KEY_ED25519',
    'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
    'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
    'CREDENTIAL_TYPE_OAUTH_KEY_P256',
    'CREDENTIAL_TYPE_LOGIN',
  ]),
  sessionProfileId: Type.Optional(Type.String()),
});

export const ApiKeyShape = Type.Object({
  apiKeyId: Type.String(),
  apiKeyName: Type.String(),
  credential: CredentialShape,
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  expirationSeconds: Type.Optional(Type.String()),
});

export const AuthenticatorShape = Type.Object({
  authenticatorId: Type.String(),
  authenticatorName: Type.String(),
  transports: Type.Array(Type.String()),
  attestationType: Type.String(),
  aaguid: Type.String(),
  credentialId: Type.String(),
  model: Type.String(),
  credential: CredentialShape,
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});
