import { Buffer } from 'node:buffer';
import { KeyringError } from '../errors.ts';
import { bundleNotOpened, decrypt, encrypt, KEY_BYTES, NONCE_BYTES, TAG_BYTES } from './aes-gcm.ts';
import { HASH_BYTES, hkdfExpand, hkdfExtract } from './hkdf.ts';
import { type Agreement, agreementOf, isUncompressed, newAgreement, uncompressPoint } from './p256.ts';

// HPKE of RFC 9180 in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.

const VERSION = Buffer.from('HPKE-v1', 'ascii');
const KEM_SUITE_ID = Buffer.from([...Buffer.from('KEM', 'ascii'), 0x00, 0x10]);
const HPKE_SUITE_ID = Buffer.from([...Buffer.from('HPKE', 'ascii'), 0x00, 0x10, 0x00, 0x01, 0x00, 0x02]);
const MODE_BASE = 0x00;
const NOTHING = new Uint8Array(0);

type SuiteId = 'KEM' | 'HPKE';

/** What the public clients put into the key schedule. */
const CLIENT_INFO: Uint8Array = Buffer.from('turnkey_hpke', 'ascii');

export interface Sealed {
  /** The encapsulated key, SEC1 uncompressed. */
  readonly enc: Uint8Array;
  /** The ciphertext with its tag. */
  readonly ciphertext: Uint8Array;
}

export interface HpkeOptions {
  /** The info of the public clients when absent. */
  readonly info?: Uint8Array;
  /** The encapsulated key and the receiver's key, both uncompressed, when absent. */
  readonly aad?: Uint8Array;
  /** 0 when absent: every bundle is a single shot. */
  readonly sequence?: number;
}

export interface SealOptions extends HpkeOptions {
  /** Only for published vectors: a key used twice repeats the AES key and the nonce. */
  readonly ephemeralPrivateKey?: Uint8Array;
}

/** The secrets of one context. The caller wipes them. */
export interface KeySchedule {
  readonly key: Uint8Array;
  readonly baseNonce: Uint8Array;
  readonly exporterSecret: Uint8Array;
}

/** Encrypts to the receiver's key, given in either form, under an ephemeral key of this call. */
export function seal(receiverPublicKey: Uint8Array, plaintext: Uint8Array, options: SealOptions = {}): Sealed {
  // The exchange checks an uncompressed key again, so here only a compressed one is worth the work.
  const receiver = isUncompressed(receiverPublicKey) ? receiverPublicKey : uncompressPoint(receiverPublicKey);
  const { ephemeralPrivateKey } = options;
  const ephemeral = ephemeralPrivateKey === undefined ? newAgreement() : agreementOf(ephemeralPrivateKey);
  const enc = ephemeral.publicKey;
  return withSchedule(ephemeral, receiver, enc, receiver, options, (schedule) => ({
    enc,
    ciphertext: sealWith(schedule, options.sequence ?? 0, options.aad ?? bothKeys(enc, receiver), plaintext),
  }));
}

/** Opens what was sealed to the private key. The caller owns and wipes the plaintext. */
export function open(receiverPrivateKey: Uint8Array, sealed: Sealed, options: HpkeOptions = {}): Uint8Array {
  const { enc, ciphertext } = sealed;
  // RFC 9180, 7.1.1: the serialised form of a P-256 key is the uncompressed one.
  if (!isUncompressed(enc)) throw new KeyringError('INVALID_INPUT', 'the encapsulated key must be uncompressed');
  if (ciphertext.length < TAG_BYTES) throw bundleNotOpened();
  const receiver = agreementOf(receiverPrivateKey);
  return withSchedule(receiver, enc, enc, receiver.publicKey, options, (schedule) =>
    openWith(schedule, options.sequence ?? 0, options.aad ?? bothKeys(enc, receiver.publicKey), ciphertext),
  );
}

/** RFC 9180, 5.2, Seal: the nonce is the base nonce xor the sequence number. */
export function sealWith(schedule: KeySchedule, sequence: number, aad: Uint8Array, plaintext: Uint8Array): Uint8Array {
  return encrypt(schedule.key, computeNonce(schedule.baseNonce, sequence), aad, plaintext);
}

/** RFC 9180, 5.2, Open. */
export function openWith(schedule: KeySchedule, sequence: number, aad: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  return decrypt(schedule.key, computeNonce(schedule.baseNonce, sequence), aad, ciphertext);
}

/** RFC 9180, 4.1, Encap and Decap from the exchange on: one of the two keys is ours and the other is the peer's. */
export function sharedSecretOf(
  own: Agreement,
  peerPublicKey: Uint8Array,
  enc: Uint8Array,
  receiverPublicKey: Uint8Array,
): Uint8Array {
  const dh = own.computeSecret(peerPublicKey);
  let eaePrk: Uint8Array = NOTHING;
  try {
    eaePrk = labeledExtract('KEM', NOTHING, 'eae_prk', dh);
    return labeledExpand('KEM', eaePrk, 'shared_secret', bothKeys(enc, receiverPublicKey), HASH_BYTES);
  } finally {
    dh.fill(0);
    eaePrk.fill(0);
  }
}

/** RFC 9180, 5.1, KeySchedule in base mode. */
export function keySchedule(sharedSecret: Uint8Array, info: Uint8Array): KeySchedule {
  const context = info === CLIENT_INFO ? CLIENT_CONTEXT : scheduleContext(info);
  const secret = labeledExtract('HPKE', sharedSecret, 'secret', NOTHING);
  try {
    return {
      key: labeledExpand('HPKE', secret, 'key', context, KEY_BYTES),
      baseNonce: labeledExpand('HPKE', secret, 'base_nonce', context, NONCE_BYTES),
      exporterSecret: labeledExpand('HPKE', secret, 'exp', context, HASH_BYTES),
    };
  } finally {
    secret.fill(0);
  }
}

/** RFC 9180, 5.1: the mode, the hash of the absent key's id, the hash of the info. */
export function scheduleContext(info: Uint8Array): Uint8Array {
  const pskIdHash = labeledExtract('HPKE', NOTHING, 'psk_id_hash', NOTHING);
  const infoHash = labeledExtract('HPKE', NOTHING, 'info_hash', info);
  return Buffer.concat([Uint8Array.of(MODE_BASE), pskIdHash, infoHash]);
}

/** RFC 9180, 4. */
export function labeledExtract(suite: SuiteId, salt: Uint8Array, label: string, ikm: Uint8Array): Uint8Array {
  return hkdfExtract(salt, [VERSION, suiteIdOf(suite), Buffer.from(label, 'ascii'), ikm]);
}

/** RFC 9180, 4. */
export function labeledExpand(
  suite: SuiteId,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const size = Uint8Array.of(length >>> 8, length & 0xff);
  return hkdfExpand(prk, [size, VERSION, suiteIdOf(suite), Buffer.from(label, 'ascii'), info], length);
}

function wipeSchedule(schedule: KeySchedule): void {
  schedule.key.fill(0);
  schedule.baseNonce.fill(0);
  schedule.exporterSecret.fill(0);
}

const CLIENT_CONTEXT = scheduleContext(CLIENT_INFO);

function withSchedule<T>(
  own: Agreement,
  peerPublicKey: Uint8Array,
  enc: Uint8Array,
  receiverPublicKey: Uint8Array,
  options: HpkeOptions,
  use: (schedule: KeySchedule) => T,
): T {
  const sharedSecret = sharedSecretOf(own, peerPublicKey, enc, receiverPublicKey);
  let schedule: KeySchedule | undefined;
  try {
    schedule = keySchedule(sharedSecret, options.info ?? CLIENT_INFO);
    return use(schedule);
  } finally {
    sharedSecret.fill(0);
    if (schedule !== undefined) wipeSchedule(schedule);
  }
}

/** RFC 9180, 5.2, ComputeNonce. */
function computeNonce(baseNonce: Uint8Array, sequence: number): Uint8Array {
  if (!Number.isSafeInteger(sequence) || sequence < 0) {
    throw new KeyringError('INVALID_INPUT', 'the sequence number must be a whole number, not negative');
  }
  const nonce = Buffer.from(baseNonce);
  const low = nonce.readUInt32BE(8) ^ (sequence % 2 ** 32);
  const high = nonce.readUInt32BE(4) ^ Math.floor(sequence / 2 ** 32);
  nonce.writeUInt32BE(low >>> 0, 8);
  nonce.writeUInt32BE(high >>> 0, 4);
  return nonce;
}

function suiteIdOf(suite: SuiteId): Uint8Array {
  return suite === 'KEM' ? KEM_SUITE_ID : HPKE_SUITE_ID;
}

function bothKeys(enc: Uint8Array, receiverPublicKey: Uint8Array): Uint8Array {
  return Buffer.concat([enc, receiverPublicKey]);
}
