import { isPointCompressed, pointCompress } from 'tiny-secp256k1';
import { COMPRESSED_BYTES, uncompressPoint } from '../bundle/p256.ts';
import type { Curve } from '../curve.ts';
import { KeyringError } from '../errors.ts';
import { taprootPublicKey } from '../sign/secp256k1.ts';
import { type Format, noTaproot, type PublicKey } from './format.ts';
import { type AddressFormat, FORMATS } from './formats.ts';

export type { Curve } from '../curve.ts';
export type { AddressFormat } from './formats.ts';

/** All of them, in the order of the wire enum. */
export const ADDRESS_FORMATS: readonly AddressFormat[] = FORMATS.map(({ name }) => name);

const BY_NAME: ReadonlyMap<string, Format> = new Map(FORMATS.map((format) => [format.name, format]));

/** The address of a public key: 33 bytes compressed for secp256k1 and P-256, 32 bytes for Ed25519. */
export function addressOf(format: AddressFormat, curve: Curve, publicKey: Uint8Array): string {
  return addressOfKey(format, curve, checkPublicKey(curve, publicKey));
}

/** The same for a key that was just computed, and so is one of its curve. */
export function addressOfKey(format: AddressFormat, curve: Curve, key: PublicKey): string {
  const { curves, encode } = formatOf(format);
  if (!curves.includes(curve)) {
    throw new KeyringError('INVALID_INPUT', `${format} needs ${curves.join(' or ')}, not ${curve}`);
  }
  return encode(key);
}

export function hasFormat(curve: Curve, format: AddressFormat): boolean {
  return BY_NAME.get(format)?.curves.includes(curve) ?? false;
}

/** The formats that a key of the curve can have, in the order of the wire enum. */
export function formatsOf(curve: Curve): AddressFormat[] {
  return ADDRESS_FORMATS.filter((format) => hasFormat(curve, format));
}

/** The CAIP-2 namespace of the format's chain; none for bare keys and for Spark, which has no namespace registered. */
export function caip2Prefix(format: AddressFormat): string | undefined {
  return formatOf(format).caip2Prefix;
}

function formatOf(name: AddressFormat): Format {
  const format = BY_NAME.get(name);
  if (format === undefined) throw new KeyringError('INVALID_INPUT', 'the address format is unknown');
  return format;
}

function checkPublicKey(curve: Curve, bytes: Uint8Array): PublicKey {
  switch (curve) {
    case 'CURVE_SECP256K1':
      if (!isPointCompressed(bytes)) break;
      return {
        bytes,
        uncompressed: () => pointCompress(bytes, false),
        taproot: () => taprootPublicKey(bytes.subarray(1)).xOnly,
      };
    case 'CURVE_P256': {
      if (bytes.length !== COMPRESSED_BYTES) break;
      const uncompressed = uncompressPoint(bytes);
      return { bytes, uncompressed: () => uncompressed, taproot: noTaproot };
    }
    case 'CURVE_ED25519':
      if (bytes.length !== 32) break;
      return { bytes, uncompressed: () => bytes, taproot: noTaproot };
  }
  throw new KeyringError('INVALID_INPUT', `the public key is not a compressed key of ${curve}`);
}
