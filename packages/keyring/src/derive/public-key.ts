import { ed25519PublicKey } from '../sign/ed25519.ts';
import { p256PublicKey } from '../sign/p256.ts';
import { isP256Scalar } from '../sign/p256-scalar.ts';
import { isSecp256k1Key, secp256k1PublicKey } from '../sign/secp256k1.ts';
import { checkLength, invalid, type PointForm } from './check.ts';

export type Curve = 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';

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

/** 32 bytes, on the two curves with a group order as a number from 1 to n - 1. */
export function checkPrivateKey(curve: Curve, privateKey: unknown): asserts privateKey is Uint8Array {
  checkLength(privateKey, 32, 'a private key');
  switch (curve) {
    case 'CURVE_SECP256K1':
      if (!isSecp256k1Key(privateKey)) throw invalid('not a secp256k1 private key');
      return;
    case 'CURVE_ED25519':
      return;
    case 'CURVE_P256':
      if (!isP256Scalar(privateKey)) throw invalid('not a P-256 private key');
      return;
    default:
      throw invalid('unknown curve');
  }
}
