import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { checkLength } from '../derive/check.ts';

/** Ed25519 (RFC 8032, 5.1.6) over the whole message, with the 32-byte private key, which the standard calls seed. */
export function signEd25519(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  return signAllEd25519([message], privateKey)[0] as Uint8Array;
}

/** To import the key costs as much as a signature, so it is done once. */
export function signAllEd25519(messages: readonly Uint8Array[], privateKey: Uint8Array): Uint8Array[] {
  const key = importKey(privateKey);
  return messages.map((message) => new Uint8Array(sign(null, message, key)));
}

export function ed25519PublicKey(privateKey: Uint8Array): Uint8Array {
  const { x } = createPublicKey(importKey(privateKey)).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x as string, 'base64url'));
}

/**
 * As a JWK, which node:crypto reads many times faster than PKCS #8. The text of `d` cannot be wiped and stays until it
 * is collected. `x` must be text, but the key is made of `d` alone.
 */
function importKey(privateKey: Uint8Array): KeyObject {
  checkLength(privateKey, 32, 'an Ed25519 private key');
  const d = Buffer.from(privateKey.buffer, privateKey.byteOffset, 32).toString('base64url');
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x: '' }, format: 'jwk' });
}
