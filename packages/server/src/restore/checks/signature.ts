import { randomBytes } from 'node:crypto';
import type { Curve, Holder, Keyring, SigningKey } from '@custos/keyring';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';

/**
 * Signs something random with a key, and verifies it under the stored public key with a library that the keyring does not sign
 * with: the key that is sealed is the one whose public half is known.
 */
export async function signsAs(
  keyring: Keyring,
  holder: Holder,
  key: SigningKey,
  publicKeyHex: string,
): Promise<boolean> {
  const digest = randomBytes(32);
  const scheme = key.curve === 'CURVE_ED25519' ? 'eddsa' : 'ecdsa';
  const [signature] = await keyring.sign(holder, key, scheme, [digest]);
  if (signature === undefined) return false;
  return verifies(key.curve, Buffer.concat([signature.r, signature.s]), digest, Buffer.from(publicKeyHex, 'hex'));
}

function verifies(curve: Curve, signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    switch (curve) {
      case 'CURVE_ED25519':
        return ed25519.verify(signature, digest, publicKey);
      case 'CURVE_P256':
        return p256.verify(signature, digest, publicKey, { prehash: false, lowS: false });
      case 'CURVE_SECP256K1':
        return secp256k1.verify(signature, digest, publicKey, { prehash: false });
    }
  } catch {
    // A public key that is none verifies nothing.
    return false;
  }
}
