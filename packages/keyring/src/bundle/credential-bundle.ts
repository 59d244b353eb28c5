import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { KeyringError } from '../errors.ts';
import { checkBytes } from '../seal/layout.ts';
import { bundleNotOpened, TAG_BYTES } from './aes-gcm.ts';
import { open, type SealOptions, seal } from './hpke.ts';
import { COMPRESSED_BYTES, compressPoint, SCALAR_BYTES, uncompressPoint } from './p256.ts';

// base58check, without a version byte, of the compressed encapsulated key and the ciphertext.

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** A private key of RSA-2048 in PEM fits. Base58 costs the square of its length, and its codec ends at 2048 bytes. */
export const PLAINTEXT_BYTES_MAX = 1920;
const BUNDLE_BYTES_MAX = COMPRESSED_BYTES + PLAINTEXT_BYTES_MAX + TAG_BYTES;
/** A byte is log(256) / log(58) = 1.366 digits, and four bytes are the checksum. */
const TEXT_LENGTH_MAX = Math.ceil((BUNDLE_BYTES_MAX + 4) * 1.366);

/** A private key that was made for the receiver of the bundle. */
export function sealCredentialBundle(
  receiverPublicKey: Uint8Array,
  privateKey: Uint8Array,
  options: SealOptions = {},
): string {
  if (privateKey.length !== SCALAR_BYTES) {
    throw new KeyringError('INVALID_INPUT', `a credential must be of ${SCALAR_BYTES} bytes`);
  }
  return sealText(receiverPublicKey, privateKey, options);
}

/** The caller owns and wipes the private key. */
export function openCredentialBundle(receiverPrivateKey: Uint8Array, text: string): Uint8Array {
  const privateKey = openText(receiverPrivateKey, text);
  if (privateKey.length === SCALAR_BYTES) return privateKey;
  privateKey.fill(0);
  throw new KeyringError('INVALID_INPUT', `a credential must be of ${SCALAR_BYTES} bytes`);
}

/** Any plaintext in the layout of a credential bundle. */
export function sealText(receiverPublicKey: Uint8Array, plaintext: Uint8Array, options: SealOptions = {}): string {
  if (plaintext.length > PLAINTEXT_BYTES_MAX) {
    throw new KeyringError('INVALID_INPUT', `the plaintext is longer than ${PLAINTEXT_BYTES_MAX} bytes`);
  }
  const { enc, ciphertext } = seal(receiverPublicKey, plaintext, options);
  return base58check.encode(Buffer.concat([compressPoint(enc), ciphertext]));
}

/** As sealText, for callers who hold no key of ours. The caller owns and wipes the plaintext. */
export function sealForClient(targetPublicKey: Uint8Array, plaintext: Uint8Array): string {
  checkBytes(targetPublicKey, 'targetPublicKey');
  checkBytes(plaintext, 'plaintext');
  return sealText(targetPublicKey, plaintext);
}

/** The caller owns and wipes the plaintext. */
export function openText(receiverPrivateKey: Uint8Array, text: string): Uint8Array {
  const bundle = decode(text);
  if (bundle.length < COMPRESSED_BYTES + TAG_BYTES) throw bundleNotOpened();
  const enc = uncompressPoint(bundle.subarray(0, COMPRESSED_BYTES));
  return open(receiverPrivateKey, { enc, ciphertext: bundle.subarray(COMPRESSED_BYTES) });
}

function decode(text: string): Uint8Array {
  if (text.length > TEXT_LENGTH_MAX) throw new KeyringError('INVALID_INPUT', 'the bundle is too long');
  try {
    return base58check.decode(text);
  } catch {
    throw new KeyringError('INVALID_INPUT', 'the bundle is not base58check');
  }
}
