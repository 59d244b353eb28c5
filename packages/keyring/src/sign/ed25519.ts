import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { checkLength } from '../derive/check.ts';

const SEED_BYTES = 32;

// RFC 8410, section 7, OneAsymmetricKey: version 0, the name of the curve, and the seed as an octet string in another.
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Ed25519 (RFC 8032, 5.1.6) over the whole message, with the 32-byte private key, which the standard calls seed. */
export function signEd25519(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  return signAllEd25519([message], privateKey)[0] as Uint8Array;
}

/** To import the key costs as much as a signature, so it is done once. */
export function signAllEd25519(messages: readonly Uint8Array[], privateKey: Uint8Array): Uint8Array[] {
  return signAllWithEd25519Key(messages, importKey(privateKey));
}

export function signAllWithEd25519Key(messages: readonly Uint8Array[], key: KeyObject): Uint8Array[] {
  return messages.map((message) => sign(null, message, key));
}

export function ed25519PublicKey(privateKey: Uint8Array): Uint8Array {
  const { x } = createPublicKey(importKey(privateKey)).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x as string, 'base64url'));
}

/** A key that is kept and used often, imported from bytes that are wiped. */
export function importEd25519Key(privateKey: Uint8Array): KeyObject {
  checkSeed(privateKey);
  const der = Buffer.alloc(PKCS8_HEADER.length + SEED_BYTES);
  try {
    der.set(PKCS8_HEADER);
    der.set(privateKey, PKCS8_HEADER.length);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    der.fill(0);
  }
}

/**
 * As a JWK, which node:crypto reads many times faster than PKCS #8. The text of `d` cannot be wiped and stays until it
 * is collected. `x` must be text, but the key is made of `d` alone.
 */
function importKey(privateKey: Uint8Array): KeyObject {
  checkSeed(privateKey);
  const d = Buffer.from(privateKey.buffer, privateKey.byteOffset, SEED_BYTES).toString('base64url');
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x: '' }, format: 'jwk' });
}

function checkSeed(bytes: Uint8Array): void {
  checkLength(bytes, SEED_BYTES, 'an Ed25519 private key');
}
