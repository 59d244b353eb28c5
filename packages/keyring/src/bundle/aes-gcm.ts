import { createCipheriv, createDecipheriv } from 'node:crypto';
import { KeyringError } from '../errors.ts';

// AES-256-GCM of NIST SP 800-38D with a nonce of 96 bits and a tag of 128 bits, which follows the ciphertext.

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

export function encrypt(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Uint8Array {
  checkLengths(key, nonce);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const box = new Uint8Array(plaintext.length + TAG_BYTES);
  box.set(cipher.update(plaintext));
  cipher.final();
  box.set(cipher.getAuthTag(), plaintext.length);
  return box;
}

/** The caller owns and wipes the plaintext. */
export function decrypt(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, box: Uint8Array): Uint8Array {
  checkLengths(key, nonce);
  const length = box.length - TAG_BYTES;
  if (length < 0) throw bundleNotOpened();
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(aad);
  decipher.setAuthTag(box.subarray(length));
  const plaintext = decipher.update(box.subarray(0, length));
  try {
    decipher.final();
  } catch {
    // What was decrypted is not authentic, and may still resemble the secret.
    plaintext.fill(0);
    throw bundleNotOpened();
  }
  return new Uint8Array(plaintext.buffer, plaintext.byteOffset, plaintext.length);
}

export function bundleNotOpened(): KeyringError {
  return new KeyringError('NOT_OPENED', 'the bundle does not open with this key');
}

function checkLengths(key: Uint8Array, nonce: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new KeyringError('INVALID_INPUT', 'an AES key must be of 32 bytes');
  if (nonce.length !== NONCE_BYTES) throw new KeyringError('INVALID_INPUT', 'an AES-GCM nonce must be of 12 bytes');
}
