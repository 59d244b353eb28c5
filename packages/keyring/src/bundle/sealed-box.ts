import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { systemRandom } from '../seal/envelope.ts';
import { bundleNotOpened, decrypt, encrypt, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from './aes-gcm.ts';
import { hexOf, parseHex } from './encoding.ts';
import { type Agreement, agreementOf, newAgreement, UNCOMPRESSED_BYTES, uncompressPoint } from './p256.ts';

// The envelope in which clients send an OAuth 2.0 client secret, as hexadecimal: nonce, ephemeral key, length of what
// follows in four bytes, little-endian, and the ciphertext with its tag. It is not HPKE.

const KEY_MESSAGE = Buffer.from('qos_encryption_hmac_message', 'ascii');
const LENGTH_AT = NONCE_BYTES + UNCOMPRESSED_BYTES;
const HEADER_BYTES = LENGTH_AT + 4;
const SECRET_BYTES_MAX = 16 * 1024;

export interface SealedBoxOptions {
  /** Only for published vectors. */
  readonly ephemeralPrivateKey?: Uint8Array;
  /** Only for published vectors. */
  readonly nonce?: Uint8Array;
}

/** The caller owns and wipes the secret. */
export function openSealedBox(privateKey: Uint8Array, text: string): Uint8Array {
  const box = parseHex(text, 'the envelope', HEADER_BYTES + TAG_BYTES, HEADER_BYTES + TAG_BYTES + SECRET_BYTES_MAX);
  const ephemeral = box.subarray(NONCE_BYTES, LENGTH_AT);
  const length = Buffer.from(box.buffer).readUInt32LE(LENGTH_AT);
  if (length !== box.length - HEADER_BYTES) throw bundleNotOpened();
  const recipient = agreementOf(privateKey);
  return withKey(recipient, ephemeral, ephemeral, recipient.publicKey, (key, aad) =>
    decrypt(key, box.subarray(0, NONCE_BYTES), aad, box.subarray(HEADER_BYTES)),
  );
}

/** What clients do, so that an envelope can be made without one. */
export function sealBox(publicKey: Uint8Array, secret: Uint8Array, options: SealedBoxOptions = {}): string {
  const { ephemeralPrivateKey } = options;
  const recipient = uncompressPoint(publicKey);
  const ephemeral = ephemeralPrivateKey === undefined ? newAgreement() : agreementOf(ephemeralPrivateKey);
  const nonce = options.nonce ?? systemRandom(NONCE_BYTES);
  const ciphertext = withKey(ephemeral, recipient, ephemeral.publicKey, recipient, (key, aad) =>
    encrypt(key, nonce, aad, secret),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(ciphertext.length);
  return hexOf(Buffer.concat([nonce, ephemeral.publicKey, length, ciphertext]));
}

/**
 * The key is the first half of HMAC-SHA-512, under both public keys and the shared x-coordinate, of a fixed text; the
 * associated data is each public key followed by its length.
 */
function withKey<T>(
  own: Agreement,
  peer: Uint8Array,
  ephemeral: Uint8Array,
  recipient: Uint8Array,
  use: (key: Uint8Array, aad: Uint8Array) => T,
): T {
  const lengthByte = Uint8Array.of(UNCOMPRESSED_BYTES);
  const shared = own.computeSecret(peer);
  const preMaster = Buffer.alloc(2 * UNCOMPRESSED_BYTES + shared.length);
  preMaster.set(ephemeral);
  preMaster.set(recipient, UNCOMPRESSED_BYTES);
  preMaster.set(shared, 2 * UNCOMPRESSED_BYTES);
  const mac = createHmac('sha512', preMaster).update(KEY_MESSAGE).digest();
  try {
    return use(mac.subarray(0, KEY_BYTES), Buffer.concat([ephemeral, lengthByte, recipient, lengthByte]));
  } finally {
    shared.fill(0);
    preMaster.fill(0);
    mac.fill(0);
  }
}
