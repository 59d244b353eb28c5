import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import { CHAIN_ID_MAX, readList, readUint, UINT256_MAX, uintItem } from './fields.ts';
import { decodeRlp, encodeRlp, type RlpItem, refuseTransaction, transactionBytes } from './rlp.ts';
import { type EthereumTransaction, parseEthereumTransaction, serializeEthereumTransaction } from './transaction.ts';

/** A transaction that its sender has signed. Hex is lower case with 0x. */
export interface SignedEthereumTransaction {
  readonly transaction: EthereumTransaction;
  /** Whose signature it is. */
  readonly from: string;
  readonly hash: string;
  readonly raw: string;
}

const SIGNATURE_FIELDS = 3;
const LEGACY_FIELDS = 9;
const BLOB_TYPE = 0x03;
/** EIP-155: v is this, twice the chain id and the parity. */
const PROTECTED_V = 35n;
const ORDER = secp256k1.Point.Fn.ORDER;

/**
 * Reads a signed transaction and finds its sender. What a node would refuse for its form is INVALID_TRANSACTION here, and
 * so is a legacy one that names no chain: anybody could carry it to any other.
 */
export function parseSignedEthereumTransaction(hex: string): SignedEthereumTransaction {
  const bytes = transactionBytes(hex);
  const { unsigned, parity, r, s } = split(bytes);
  if (r === 0n || r >= ORDER || s === 0n || s >= ORDER) refuseTransaction('the signature is out of range');
  // EIP-2: of the two values of s that serve, chains take the lower one.
  if (s > ORDER / 2n) refuseTransaction('the signature has a high s');
  const transaction = parseEthereumTransaction(toHex(unsigned));
  const digest = keccak_256(Buffer.from(serializeEthereumTransaction(transaction), 'hex'));
  return {
    transaction,
    from: senderOf(digest, r, s, parity),
    hash: `0x${toHex(keccak_256(bytes))}`,
    raw: `0x${toHex(bytes)}`,
  };
}

/** What a signed transaction says, without a look at its signature: for what was verified when it was stored. */
export const readSignedTransaction = (hex: string): EthereumTransaction =>
  parseEthereumTransaction(toHex(split(transactionBytes(hex)).unsigned));

interface Split {
  /** What was signed. */
  readonly unsigned: Uint8Array;
  readonly parity: number;
  readonly r: bigint;
  readonly s: bigint;
}

function split(bytes: Uint8Array): Split {
  const first = bytes[0] as number;
  if (first === BLOB_TYPE) throw new ApiError('UNSUPPORTED_TRANSACTION_TYPE', 'blob transactions are not sent here');
  return first >= 0xc0 ? splitLegacy(bytes) : splitTyped(first, bytes);
}

function splitLegacy(bytes: Uint8Array): Split {
  const fields = readList(decodeRlp(bytes), 'transaction');
  if (fields.length !== LEGACY_FIELDS) refuseTransaction(`${fields.length} fields, expected ${LEGACY_FIELDS}`);
  const { rest, first: v, r, s } = signatureOf(fields, 2n * CHAIN_ID_MAX + PROTECTED_V + 1n);
  if (v < PROTECTED_V) refuseTransaction('it is signed without the chain id of EIP-155');
  const chainId = uintItem((v - PROTECTED_V) / 2n);
  return {
    unsigned: encodeRlp([...rest, chainId, uintItem(0n), uintItem(0n)]),
    parity: Number((v - PROTECTED_V) % 2n),
    r,
    s,
  };
}

function splitTyped(type: number, bytes: Uint8Array): Split {
  if (type > 0x7f) refuseTransaction('it is no transaction');
  const fields = readList(decodeRlp(bytes.subarray(1)), 'transaction');
  if (fields.length <= SIGNATURE_FIELDS) refuseTransaction(`${fields.length} fields`);
  const { rest, first: parity, r, s } = signatureOf(fields, 1n);
  return { unsigned: Buffer.concat([Uint8Array.of(type), encodeRlp(rest)]), parity: Number(parity), r, s };
}

/** The last three fields: v or the parity, r and s. */
function signatureOf(fields: readonly RlpItem[], firstMax: bigint) {
  const [first, r, s] = fields.slice(-SIGNATURE_FIELDS);
  return {
    rest: fields.slice(0, -SIGNATURE_FIELDS),
    first: readUint(first, 'the parity of the signature', firstMax),
    r: readUint(r, 'r', UINT256_MAX),
    s: readUint(s, 's', UINT256_MAX),
  };
}

function senderOf(digest: Uint8Array, r: bigint, s: bigint, parity: number): string {
  try {
    const point = new secp256k1.Signature(r, s, parity).recoverPublicKey(digest).toBytes(false);
    return `0x${toHex(keccak_256(point.subarray(1)).subarray(12))}`;
  } catch {
    return refuseTransaction('no key has made the signature');
  }
}
