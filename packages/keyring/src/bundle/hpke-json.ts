import { Buffer } from 'node:buffer';
import { KeyringError } from '../errors.ts';
import { checkBytes } from '../seal/layout.ts';
import { TAG_BYTES } from './aes-gcm.ts';
import { parseHex, parseJsonObject } from './encoding.ts';
import { open, type Sealed, seal } from './hpke.ts';
import { isUncompressed, UNCOMPRESSED_BYTES } from './p256.ts';

/** A mnemonic with its passphrase is far below it; what else clients import is text that people handle. */
const PLAINTEXT_BYTES_MAX = 64 * 1024;
const CIPHERTEXT_BYTES_MAX = PLAINTEXT_BYTES_MAX + TAG_BYTES;
/** Room for the hexadecimal, the names and some white space. */
const TEXT_LENGTH_MAX = 2 * (UNCOMPRESSED_BYTES + CIPHERTEXT_BYTES_MAX) + 1024;

/**
 * What clients send: `{"encappedPublic": <130 hex digits>, "ciphertext": <hex>}` as text. Other members are ignored.
 */
export function parseHpkeJson(text: string): Sealed {
  if (text.length > TEXT_LENGTH_MAX) throw new KeyringError('INVALID_INPUT', 'the encrypted bundle is too long');
  const { encappedPublic, ciphertext } = parseJsonObject(text, 'the encrypted bundle');
  const enc = parseHex(encappedPublic, 'encappedPublic', UNCOMPRESSED_BYTES, UNCOMPRESSED_BYTES);
  if (!isUncompressed(enc)) throw new KeyringError('INVALID_INPUT', 'encappedPublic is not an uncompressed key');
  return { enc, ciphertext: parseHex(ciphertext, 'ciphertext', TAG_BYTES, CIPHERTEXT_BYTES_MAX) };
}

/** The caller owns and wipes the plaintext. */
export function openHpkeJson(receiverPrivateKey: Uint8Array, text: string): Uint8Array {
  return open(receiverPrivateKey, parseHpkeJson(text));
}

/**
 * As a client does to import something, for callers who hold no key of ours. The caller owns and wipes the plaintext.
 */
export function sealHpkeJson(targetPublicKey: Uint8Array, plaintext: Uint8Array): string {
  checkBytes(targetPublicKey, 'targetPublicKey');
  checkBytes(plaintext, 'plaintext');
  if (plaintext.length > PLAINTEXT_BYTES_MAX) {
    throw new KeyringError('INVALID_INPUT', `the plaintext is longer than ${PLAINTEXT_BYTES_MAX} bytes`);
  }
  const { enc, ciphertext } = seal(targetPublicKey, plaintext);
  return JSON.stringify({
    encappedPublic: Buffer.from(enc).toString('hex'),
    ciphertext: Buffer.from(ciphertext).toString('hex'),
  });
}
