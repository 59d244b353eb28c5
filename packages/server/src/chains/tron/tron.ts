import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { assert } from '../../lib/assert.ts';
import { sha256, toHex } from '../../lib/encoding.ts';
import { bytesOfHex, refused, unparsable } from '../input.ts';
import type { RawSignature, Signable, SignerAccount } from '../signable.ts';
import { tronAddress } from './address.ts';
import { parseContract, type TronContract } from './contract.ts';
import { lengthDelimited, ProtoMessage } from './protobuf.ts';

/** The raw data of a transaction. Bytes are hex without 0x, times milliseconds, amounts sun. */
export interface TronTransaction {
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  readonly expiration: bigint;
  readonly timestamp: bigint;
  /** The memo. */
  readonly data: string;
  readonly feeLimit: bigint;
  /** The network executes exactly one. */
  readonly contract: readonly [TronContract];
  /** SHA-256 of the raw data, in hex. */
  readonly txid: string;
}

export interface TronSignable extends Signable {
  readonly transaction: TronTransaction;
}

/** What the nodes accept (java-tron, Constant.TRANSACTION_MAX_BYTE_SIZE). */
const MAX_TRANSACTION_BYTES = 500 * 1024;

// Transaction.raw (tronprotocol/protocol, core/Tron.proto). Its fields that the nodes do not use are refused as well.

/** Hex of the raw data. */
export function parseTron(hex: string): TronTransaction {
  return parseRaw(bytesOfHex(hex));
}

/** The signer must be the owner of the contract. */
export function signableTron(hex: string, signer: SignerAccount): TronSignable {
  if (signer.curve !== 'CURVE_SECP256K1') throw refused('a Tron transaction needs a secp256k1 key to sign with');
  const raw = bytesOfHex(hex);
  const transaction = parseRaw(raw);
  if (transaction.contract[0].ownerAddress !== addressOfKey(signer.publicKey)) {
    throw refused('the account to sign with is not the owner_address of the contract');
  }
  return {
    transaction,
    payloads: [sha256(raw)],
    attach: (signatures) =>
      toHex(Buffer.concat([lengthDelimited(1, raw), lengthDelimited(2, signatureBytes(signatures))])),
  };
}

function parseRaw(bytes: Uint8Array): TronTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw unparsable(`it exceeds ${MAX_TRANSACTION_BYTES} bytes`);
  const raw = new ProtoMessage(bytes, 'raw_data');
  const refBlockBytes = fixedHex(raw, 1, 'ref_block_bytes', 2);
  const refBlockHash = fixedHex(raw, 4, 'ref_block_hash', 8);
  const [contract, ...others] = raw.messages(11, 'contract');
  if (contract === undefined || others.length > 0) throw unparsable('it does not have exactly one contract');
  const transaction: TronTransaction = {
    refBlockBytes,
    refBlockHash,
    expiration: raw.uint63(8, 'expiration'),
    timestamp: raw.uint63(14, 'timestamp'),
    data: raw.hex(10, 'data'),
    feeLimit: raw.uint63(18, 'fee_limit'),
    contract: [parseContract(contract)],
    txid: toHex(sha256(bytes)),
  };
  raw.refuseOthers();
  return transaction;
}

function fixedHex(raw: ProtoMessage, number: number, label: string, length: number): string {
  const bytes = raw.bytes(number, label);
  if (bytes.length !== length) throw unparsable(`raw_data.${label} does not have ${length} bytes`);
  return toHex(bytes);
}

/** r, s and the recovery id. */
function signatureBytes(signatures: readonly RawSignature[]): Uint8Array {
  const [signature] = signatures;
  assert(signature !== undefined && signatures.length === 1, 'a Tron transaction takes one signature');
  const bytes = Buffer.concat([signature.r, signature.s, Uint8Array.of(signature.v)]);
  assert(bytes.length === 65, 'a Tron signature has 65 bytes');
  return bytes;
}

/** 0x41 and the last 20 bytes of the Keccak-256 of the uncompressed point. */
function addressOfKey(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return tronAddress(Uint8Array.of(0x41, ...keccak_256(point.subarray(1)).subarray(12)));
}
