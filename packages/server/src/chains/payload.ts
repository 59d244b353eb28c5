import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { ApiError } from '../lib/errors.ts';
import { hashTypedDataJson } from './ethereum/eip712.ts';
import { type HashBudget, newHashBudget } from './ethereum/eip712-types.ts';
import { hashAuthorizationJson } from './ethereum/eip7702.ts';

export const PAYLOAD_ENCODINGS = [
  'PAYLOAD_ENCODING_HEXADECIMAL',
  'PAYLOAD_ENCODING_TEXT_UTF8',
  'PAYLOAD_ENCODING_EIP712',
  'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
] as const;
export type PayloadEncoding = (typeof PAYLOAD_ENCODINGS)[number];

export const HASH_FUNCTIONS = [
  'HASH_FUNCTION_NO_OP',
  'HASH_FUNCTION_SHA256',
  'HASH_FUNCTION_KECCAK256',
  'HASH_FUNCTION_NOT_APPLICABLE',
] as const;
export type HashFunction = (typeof HASH_FUNCTIONS)[number];

const DIGEST_BYTES = 32;

/** What is signed for a raw payload: a digest for ECDSA and Schnorr, the message for Ed25519 (protocol/signing 2.3). */
export function signingInput(
  payload: string,
  encoding: PayloadEncoding,
  hash: HashFunction,
  curve: string,
  /** Shared by all payloads of a request. */
  budget: HashBudget = newHashBudget(),
): Uint8Array {
  switch (encoding) {
    case 'PAYLOAD_ENCODING_EIP712':
      requireEthereum(encoding, hash, curve);
      return hashTypedDataJson(payload, budget).digest;
    case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION':
      requireEthereum(encoding, hash, curve);
      return hashAuthorizationJson(payload).digest;
    case 'PAYLOAD_ENCODING_HEXADECIMAL':
      return hashed(bytesOfHex(payload), hash, curve);
    case 'PAYLOAD_ENCODING_TEXT_UTF8':
      return hashed(Buffer.from(payload, 'utf8'), hash, curve);
  }
}

function requireEthereum(encoding: PayloadEncoding, hash: HashFunction, curve: string): void {
  if (curve !== 'CURVE_SECP256K1') throw new ApiError('INVALID_PAYLOAD_ENCODING', `${encoding} needs a secp256k1 key`);
  if (hash !== 'HASH_FUNCTION_NO_OP')
    throw new ApiError('INVALID_HASH_FUNCTION', `${encoding} has its own hash: use HASH_FUNCTION_NO_OP`);
}

function hashed(bytes: Uint8Array, hash: HashFunction, curve: string): Uint8Array {
  if ((curve === 'CURVE_ED25519') !== (hash === 'HASH_FUNCTION_NOT_APPLICABLE')) {
    throw new ApiError(
      'INVALID_HASH_FUNCTION',
      'HASH_FUNCTION_NOT_APPLICABLE is for Ed25519 keys, and they take no other',
    );
  }
  switch (hash) {
    case 'HASH_FUNCTION_NOT_APPLICABLE':
      return bytes;
    case 'HASH_FUNCTION_SHA256':
      return createHash('sha256').update(bytes).digest();
    case 'HASH_FUNCTION_KECCAK256':
      return keccak_256(bytes);
    case 'HASH_FUNCTION_NO_OP':
      if (bytes.length !== DIGEST_BYTES) {
        throw new ApiError(
          'INVALID_HASH_FUNCTION',
          'with HASH_FUNCTION_NO_OP the payload must be a digest of 32 bytes',
        );
      }
      return bytes;
  }
}

function bytesOfHex(text: string): Uint8Array {
  const digits = text.startsWith('0x') || text.startsWith('0X') ? text.slice(2) : text;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw new ApiError(
      'INVALID_PAYLOAD_ENCODING',
      'invalid payload encoding: not hexadecimal with an even number of digits',
    );
  }
  return Buffer.from(digits, 'hex');
}
