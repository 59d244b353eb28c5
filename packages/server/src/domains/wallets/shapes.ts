import { ADDRESS_FORMATS } from '@custos/keyring';
import Type from 'typebox';
import { IdShape, listShape, NameShape, TimestampShape, textShape } from '../../lib/shapes.ts';

export const AddressFormatShape = Type.Enum([...ADDRESS_FORMATS], { 'x-code': 'INVALID_ADDRESS_FORMAT' });
export const CurveShape = Type.Enum(['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'], { 'x-code': 'INVALID_CURVE' });
const PathFormatShape = Type.Enum(['PATH_FORMAT_BIP32'], { 'x-code': 'INVALID_PATH_FORMAT' });

export const WalletAccountParamsShape = Type.Object({
  curve: CurveShape,
  pathFormat: PathFormatShape,
  path: textShape(255),
  addressFormat: AddressFormatShape,
  name: Type.Optional(NameShape),
});
export type WalletAccountParams = Type.Static<typeof WalletAccountParamsShape>;

export const MnemonicLengthShape = Type.Enum([12, 15, 18, 21, 24]);

export const WalletParamsShape = Type.Object({
  walletName: NameShape,
  accounts: listShape(WalletAccountParamsShape),
  mnemonicLength: Type.Optional(MnemonicLengthShape),
});

export const WalletResultShape = Type.Object({ walletId: Type.String(), addresses: Type.Array(Type.String()) });

/** protocol/wallets 1.1. */
export const WalletShape = Type.Object({
  walletId: Type.String(),
  walletName: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  exported: Type.Boolean(),
  imported: Type.Boolean(),
});

export const WalletAccountShape = Type.Object({
  walletAccountId: Type.String(),
  organizationId: Type.String(),
  walletId: Type.String(),
  curve: Type.String(),
  pathFormat: PathFormatShape,
  path: Type.String(),
  addressFormat: Type.String(),
  address: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  publicKey: Type.Optional(Type.String()),
  walletDetails: Type.Optional(WalletShape),
  name: Type.Optional(Type.String()),
  caip2Prefix: Type.Optional(Type.String()),
});

const KeyAddressShape = Type.Object({ format: Type.String(), address: Type.String() });

/** protocol/wallets 1.3. */
export const PrivateKeyShape = Type.Object({
  privateKeyId: Type.String(),
  publicKey: Type.String(),
  privateKeyName: Type.String(),
  curve: Type.String(),
  addresses: Type.Array(KeyAddressShape),
  privateKeyTags: Type.Array(Type.String()),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
  exported: Type.Boolean(),
  imported: Type.Boolean(),
});

export const PrivateKeyResultShape = Type.Object({
  privateKeyId: Type.String(),
  addresses: Type.Array(KeyAddressShape),
});

export const MnemonicLanguageShape = Type.Enum([
  'MNEMONIC_LANGUAGE_ENGLISH',
  'MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE',
  'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE',
  'MNEMONIC_LANGUAGE_CZECH',
  'MNEMONIC_LANGUAGE_FRENCH',
  'MNEMONIC_LANGUAGE_ITALIAN',
  'MNEMONIC_LANGUAGE_JAPANESE',
  'MNEMONIC_LANGUAGE_KOREAN',
  'MNEMONIC_LANGUAGE_SPANISH',
]);

export const UserIdOnlyShape = Type.Object({ userId: IdShape });
