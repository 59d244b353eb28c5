import type { Curve } from '../curve.ts';
import type { KeyNode } from '../derive/node.ts';
import type { SigningScheme } from '../keyring.ts';
import { importEd25519Key, signAllEd25519, signAllWithEd25519Key } from './ed25519.ts';
import { signEcdsaP256 } from './p256.ts';
import { signEcdsaSecp256k1, signSchnorr, taprootPrivateKey } from './secp256k1.ts';
import { type Signature, splitSignature } from './signature.ts';

/**
 * Signs each payload. That the curve has the scheme was checked before. A key of Ed25519 that is kept inside OpenSSL is taken
 * from there.
 */
export function signAll(
  curve: Curve,
  scheme: SigningScheme,
  privateKey: Uint8Array,
  payloads: readonly Uint8Array[],
  kept?: KeyNode,
): Signature[] {
  switch (scheme) {
    case 'ecdsa': {
      const sign = curve === 'CURVE_P256' ? signEcdsaP256 : signEcdsaSecp256k1;
      return payloads.map((digest) => sign(digest, privateKey));
    }
    case 'eddsa':
      return (
        kept === undefined
          ? signAllEd25519(payloads, privateKey)
          : signAllWithEd25519Key(payloads, kept.signingKey(importEd25519Key))
      ).map((signature) => splitSignature(signature));
    case 'schnorr':
      return payloads.map((digest) => splitSignature(signSchnorr(digest, privateKey)));
    case 'taproot': {
      const tweaked = taprootPrivateKey(privateKey);
      try {
        return payloads.map((digest) => splitSignature(signSchnorr(digest, tweaked)));
      } finally {
        tweaked.fill(0);
      }
    }
  }
}
