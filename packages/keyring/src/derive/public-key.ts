import { noTaproot, type PublicKey } from '../address/format.ts';
import type { Curve } from '../curve.ts';
import type { RandomBytes } from '../seal/envelope.ts';
import { ed25519PublicKey } from '../sign/ed25519.ts';
import { p256PublicKey } from '../sign/p256.ts';
import { isP256Scalar } from '../sign/p256-scalar.ts';
import { isSecp256k1Key, secp256k1PublicKey, taprootPublicKey } from '../sign/secp256k1.ts';
import { invalid, type PointForm } from './check.ts';

export const PRIVATE_KEY_BYTES = 32;

/** 33 bytes, 65 when uncompressed; on Ed25519 always 32. */
export function publicKeyOf(curve: Curve, privateKey: Uint8Array, form: PointForm = 'compressed'): Uint8Array {
  switch (curve) {
    case 'CURVE_SECP256K1':
      return secp256k1PublicKey(privateKey, form);
    case 'CURVE_ED25519':
      return ed25519PublicKey(privateKey);
    case 'CURVE_P256':
      return p256PublicKey(privateKey, form);
    default:
      throw invalid('unknown curve');
  }
}

/** 32 bytes, on the two curves with a group order as a number from 1 to n - 1. RFC 8032, 5.1.5: on Ed25519 any. */
export function isPrivateKeyOf(curve: Curve, bytes: Uint8Array): boolean {
  if (!(bytes instanceof Uint8Array) || bytes.length !== PRIVATE_KEY_BYTES) return false;
  switch (curve) {
    case 'CURVE_SECP256K1':
      return isSecp256k1Key(bytes);
    case 'CURVE_ED25519':
      return true;
    case 'CURVE_P256':
      return isP256Scalar(bytes);
    default:
      throw invalid('unknown curve');
  }
}

/** Random bytes until they are a key of the curve. The caller owns and wipes it. */
export function generatePrivateKeyOf(curve: Curve, random: RandomBytes): Uint8Array {
  for (;;) {
    const privateKey = random(PRIVATE_KEY_BYTES);
    if (isPrivateKeyOf(curve, privateKey)) return privateKey;
  }
}

/** All forms of a public key for one multiplication. */
export function publicKeyFormsOf(curve: Curve, privateKey: Uint8Array): PublicKey {
  if (curve === 'CURVE_ED25519') {
    const bytes = publicKeyOf(curve, privateKey);
    return { bytes, uncompressed: () => bytes, taproot: noTaproot };
  }
  const uncompressed = publicKeyOf(curve, privateKey, 'uncompressed');
  const bytes = uncompressed.slice(0, 33);
  bytes[0] = ((uncompressed[64] as number) & 1) === 1 ? 3 : 2;
  const taproot = curve === 'CURVE_SECP256K1' ? () => taprootPublicKey(bytes.subarray(1)).xOnly : noTaproot;
  return { bytes, uncompressed: () => uncompressed, taproot };
}
