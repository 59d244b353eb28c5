import Type from 'typebox';
import { TimestampShape, textShape } from '../../lib/shapes.ts';
import { ON_RAMP_PROVIDERS } from './model.ts';
import {
  ON_RAMP_CRYPTO_CURRENCIES,
  ON_RAMP_FIAT_CURRENCIES,
  ON_RAMP_NETWORKS,
  ON_RAMP_PAYMENT_METHODS,
} from './purchase.ts';

export const OnRampProviderShape = Type.Enum([...ON_RAMP_PROVIDERS]);

/** It stands in URLs and in the header of tokens. */
const PublishableApiKeyShape = Type.String({
  pattern: '^[\\x21-\\x7e]{1,255}$',
  'x-message': 'must be 1 to 255 printable characters of ASCII, without spaces',
});
/** The longest that opens has 1920 bytes inside. */
const EncryptedKeyShape = Type.String({
  pattern: '^[^\\u0000]{1,4096}$',
  'x-message': 'must be 1 to 4096 characters, as encrypted to the key of the role on-ramp-secret',
});

/** What a credential is made of, at its creation and when it is replaced. */
export const CREDENTIAL_FIELDS = {
  onrampProvider: OnRampProviderShape,
  projectId: Type.Optional(textShape(255)),
  publishableApiKey: PublishableApiKeyShape,
  encryptedSecretApiKey: EncryptedKeyShape,
  encryptedPrivateApiKey: Type.Optional(textShape(4096)),
};

export const OnRampCredentialShape = Type.Object({
  fiatOnrampCredentialId: Type.String(),
  organizationId: Type.String(),
  onrampProvider: OnRampProviderShape,
  projectId: Type.Optional(Type.String()),
  publishableApiKey: Type.String(),
  encryptedSecretApiKey: Type.String(),
  encryptedPrivateApiKey: Type.Optional(Type.String()),
  sandboxMode: Type.Optional(Type.Boolean()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});

export const PurchaseShape = Type.Object({
  onrampProvider: OnRampProviderShape,
  walletAddress: textShape(128),
  network: Type.Enum(ON_RAMP_NETWORKS),
  cryptoCurrencyCode: Type.Enum(ON_RAMP_CRYPTO_CURRENCIES),
  fiatCurrencyCode: Type.Optional(Type.Enum(ON_RAMP_FIAT_CURRENCIES)),
  fiatCurrencyAmount: Type.Optional(Type.String({ maxLength: 16, 'x-decimal': true })),
  paymentMethod: Type.Optional(Type.Enum(ON_RAMP_PAYMENT_METHODS)),
  countryCode: Type.Optional(
    Type.String({ pattern: '^[A-Z]{2}$', 'x-message': 'must be two capital letters (ISO 3166-1)' }),
  ),
  countrySubdivisionCode: Type.Optional(
    Type.String({ pattern: '^[A-Z0-9]{1,3}$', 'x-message': 'must be the part behind the country (ISO 3166-2)' }),
  ),
  sandboxMode: Type.Optional(Type.Boolean()),
  urlForSignature: Type.Optional(textShape(4096)),
});
