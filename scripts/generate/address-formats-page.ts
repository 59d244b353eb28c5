import type { Curve } from '@custos/keyring';
import type { Format } from '../../packages/keyring/src/address/format.ts';
import { FORMATS } from '../../packages/keyring/src/address/formats.ts';
import { code, table } from './markdown.ts';

const CURVES: Readonly<Record<Curve, string>> = {
  CURVE_SECP256K1: 'secp256k1',
  CURVE_ED25519: 'Ed25519',
  CURVE_P256: 'P-256',
};

export function addressFormatSections(): string[] {
  return [
    '# Address formats',
    'The usual path is what most wallets of the chain use. It is advice: any path works with any format. A format on a curve that it does not have is `INVALID_ADDRESS_FORMAT`. `caip2Prefix` of a wallet account is the CAIP-2 namespace. See [Wallets](../guides/wallets.md#address-formats).',
    table(['Format', 'Curve', 'Usual path', 'Address', 'CAIP-2'], FORMATS.map(rowOf)),
  ];
}

const rowOf = ({ name, curves, usualPath, looksLike, caip2Prefix }: Format): string[] => [
  code(name),
  curves.map((curve) => CURVES[curve]).join(', '),
  usualPath === undefined ? 'any' : code(usualPath),
  looksLike,
  caip2Prefix === undefined ? 'none' : code(caip2Prefix),
];
