import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../../lib/encoding.ts';
import {
  type AccessListEntry,
  accessListItem,
  hexItem,
  onlySignature,
  readAccessList,
  readAddress,
  readBytes,
  readChainId,
  readHex,
  readList,
  readOptionalAddress,
  readTuple,
  readUint,
  requireSecp256k1,
  selectorOf,
  UINT64_MAX,
  UINT128_MAX,
  UINT256_MAX,
  uintItem,
} from '../ethereum/fields.ts';
import { decodeRlp, encodeRlp, type RlpItem, refuseTransaction, transactionBytes } from '../ethereum/rlp.ts';
import type { Signable, SignerAccount } from '../signable.ts';

export interface TempoCall {
  /** The empty string for a contract creation. */
  readonly to: string;
  readonly value: bigint;
  readonly input: string;
  /** The first four bytes of the input, or the empty string. */
  readonly selector: string;
}

/** Who pays the fee: the sender, somebody who has yet to sign, or somebody who has signed. */
export type TempoFeePayer =
  | { readonly kind: 'sender' }
  | { readonly kind: 'requested' }
  | { readonly kind: 'signed'; readonly yParity: 0n | 1n; readonly r: bigint; readonly s: bigint };

/** An authorization as in EIP-7702, but with a Tempo signature, which may be of another kind than secp256k1. */
export interface TempoAuthorization {
  readonly chainId: bigint;
  readonly address: string;
  readonly nonce: bigint;
  readonly signature: string;
}

/** An unsigned transaction of type 0x76. Hex is lower case with 0x. */
export interface TempoTransaction {
  readonly chainId: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gasLimit: bigint;
  readonly calls: readonly TempoCall[];
  readonly accessList: readonly AccessListEntry[];
  readonly nonceKey: bigint;
  readonly nonce: bigint;
  /** Seconds; 0 when unset. */
  readonly validBefore: bigint;
  /** Seconds; 0 when unset. */
  readonly validAfter: bigint;
  /** The empty string when unset. The sender's signature does not cover it when somebody else pays the fee. */
  readonly feeToken: string;
  readonly feePayer: TempoFeePayer;
  readonly authorizationList: readonly TempoAuthorization[];
  /** The RLP of the authorization of a new access key with its own signature, or the empty string. */
  readonly keyAuthorization: string;
}

const TYPE_BYTE = 0x76;
const FIELDS = 13;
/** Stands for the fee payer's signature in what the sender signs. */
const FEE_PAYER_MARKER = Uint8Array.of(0);
const EMPTY = new Uint8Array(0);

/**
 * Reads an unsigned transaction. Whatever is not exactly the canonical form of one is refused as INVALID_TRANSACTION.
 */
export function parseTempoTransaction(hex: string): TempoTransaction {
  const bytes = transactionBytes(hex);
  if (bytes[0] !== TYPE_BYTE) refuseTransaction('a Tempo transaction starts with the byte 76');
  const fields = readList(decodeRlp(bytes.subarray(1)), 'transaction');
  const [
    chainId,
    priorityFee,
    maxFee,
    gas,
    calls,
    accessList,
    nonceKey,
    nonce,
    before,
    after,
    token,
    payer,
    list,
    last,
  ] = fields;
  // The sender's signature is a byte string after the fields; an authorization of a key is a list.
  if (fields.length === FIELDS + 2 || last instanceof Uint8Array) refuseTransaction('it already contains a signature');
  if (fields.length !== FIELDS && fields.length !== FIELDS + 1) {
    refuseTransaction(`${fields.length} fields, expected ${FIELDS} or ${FIELDS + 1}`);
  }
  const tx: TempoTransaction = {
    chainId: readChainId(chainId),
    maxPriorityFeePerGas: readUint(priorityFee, 'maxPriorityFeePerGas', UINT128_MAX),
    maxFeePerGas: readUint(maxFee, 'maxFeePerGas', UINT128_MAX),
    gasLimit: readUint(gas, 'gas', UINT64_MAX),
    calls: readList(calls, 'calls').map(readTempoCall),
    accessList: readAccessList(accessList),
    nonceKey: readUint(nonceKey, 'nonceKey', UINT256_MAX),
    nonce: readUint(nonce, 'nonce', UINT64_MAX),
    validBefore: readUint(before, 'validBefore', UINT64_MAX),
    validAfter: readUint(after, 'validAfter', UINT64_MAX),
    feeToken: readOptionalAddress(token, 'feeToken'),
    feePayer: readFeePayer(payer),
    authorizationList: readList(list, 'authorizationList').map(readAuthorization),
    keyAuthorization: last === undefined ? '' : readKeyAuthorization(last),
  };
  checkRules(tx);
  return tx;
}

function readTempoCall(item: RlpItem): TempoCall {
  const [to, value, data] = readTuple(item, 'call', 3);
  const input = readHex(data, 'call data');
  return {
    to: readOptionalAddress(to, 'call to'),
    value: readUint(value, 'call value', UINT256_MAX),
    input,
    selector: selectorOf(input),
  };
}

function readFeePayer(item: RlpItem | undefined): TempoFeePayer {
  if (item instanceof Uint8Array) {
    if (item.length === 0) return { kind: 'sender' };
    if (item.length === 1 && item[0] === 0) return { kind: 'requested' };
    return refuseTransaction('the fee payer is neither empty, nor the byte 00, nor a signature');
  }
  const [yParity, r, s] = readTuple(item, 'fee payer signature', 3);
  return {
    kind: 'signed',
    yParity: readUint(yParity, 'fee payer yParity', 1n) === 0n ? 0n : 1n,
    r: readUint(r, 'fee payer r', UINT256_MAX),
    s: readUint(s, 'fee payer s', UINT256_MAX),
  };
}

function readAuthorization(item: RlpItem): TempoAuthorization {
  const [chainId, address, nonce, signature] = readTuple(item, 'authorization', 4);
  if (readBytes(signature, 'authorization signature').length === 0)
    refuseTransaction('authorization without signature');
  return {
    chainId: readUint(chainId, 'authorization chainId', UINT256_MAX),
    address: readAddress(address, 'authorization address'),
    nonce: readUint(nonce, 'authorization nonce', UINT64_MAX),
    signature: readHex(signature, 'authorization signature'),
  };
}

function readKeyAuthorization(item: RlpItem): string {
  const [authorization, signature] = readTuple(item, 'keyAuthorization', 2);
  readList(authorization, 'keyAuthorization body');
  if (readBytes(signature, 'keyAuthorization signature').length === 0) {
    refuseTransaction('keyAuthorization without signature');
  }
  return `0x${toHex(encodeRlp(item))}`;
}

/** What the Tempo specification demands of the fields together. */
function checkRules(tx: TempoTransaction): void {
  if (tx.calls.length === 0) refuseTransaction('calls is empty');
  if (tx.validBefore > 0n && tx.validBefore <= tx.validAfter) refuseTransaction('validBefore is not after validAfter');
  if (tx.authorizationList.length > 0 && tx.calls.some((call) => call.to === '')) {
    refuseTransaction('a contract creation together with an authorizationList');
  }
}

/** The unsigned serialisation, hex without 0x. For a transaction that was parsed it is exactly what was given. */
export function serializeTempoTransaction(tx: TempoTransaction): string {
  return toHex(envelope(fieldsOf(tx, hexItem(tx.feeToken), feePayerItem(tx.feePayer))));
}

/**
 * The digest and signed form of a transaction, made from the parsed form, so that what is signed is what a policy saw.
 * With a fee payer the sender signs neither the fee token nor the payer's signature; the signed form keeps both.
 */
export function signableTempo(hex: string, signer: SignerAccount): Signable {
  requireSecp256k1(signer);
  const tx = parseTempoTransaction(hex);
  const preimage =
    tx.feePayer.kind === 'sender' ? fieldsOf(tx, hexItem(tx.feeToken), EMPTY) : fieldsOf(tx, EMPTY, FEE_PAYER_MARKER);
  return {
    payloads: [keccak_256(envelope(preimage))],
    attach(signatures) {
      const { r, s, v } = onlySignature(signatures);
      const signature = Buffer.concat([r, s, Uint8Array.of(27 + v)]);
      return toHex(envelope([...fieldsOf(tx, hexItem(tx.feeToken), feePayerItem(tx.feePayer)), signature]));
    },
  };
}

function envelope(fields: readonly RlpItem[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(TYPE_BYTE), encodeRlp(fields)]);
}

function fieldsOf(tx: TempoTransaction, feeToken: Uint8Array, feePayer: RlpItem): readonly RlpItem[] {
  return [
    uintItem(tx.chainId),
    uintItem(tx.maxPriorityFeePerGas),
    uintItem(tx.maxFeePerGas),
    uintItem(tx.gasLimit),
    tx.calls.map(({ to, value, input }) => [hexItem(to), uintItem(value), hexItem(input)]),
    accessListItem(tx.accessList),
    uintItem(tx.nonceKey),
    uintItem(tx.nonce),
    uintItem(tx.validBefore),
    uintItem(tx.validAfter),
    feeToken,
    feePayer,
    tx.authorizationList.map(({ chainId, address, nonce, signature }) => [
      uintItem(chainId),
      hexItem(address),
      uintItem(nonce),
      hexItem(signature),
    ]),
    ...(tx.keyAuthorization === '' ? [] : [decodeRlp(hexItem(tx.keyAuthorization))]),
  ];
}

function feePayerItem(payer: TempoFeePayer): RlpItem {
  if (payer.kind === 'sender') return EMPTY;
  if (payer.kind === 'requested') return FEE_PAYER_MARKER;
  return [uintItem(payer.yParity), uintItem(payer.r), uintItem(payer.s)];
}
