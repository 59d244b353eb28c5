import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../../lib/encoding.ts';
import type { Signable, SignerAccount } from '../signable.ts';
import {
  type AccessListEntry,
  accessListItem,
  hexItem,
  NONCE_MAX,
  onlySignature,
  readAccessList,
  readAddress,
  readBytes,
  readChainId,
  readFixed,
  readHex,
  readList,
  readOptionalAddress,
  readTuple,
  readUint,
  requireSecp256k1,
  selectorOf,
  signatureUint,
  UINT64_MAX,
  UINT256_MAX,
  uintItem,
} from './fields.ts';
import { decodeRlp, encodeRlp, type RlpItem, refuseTransaction, transactionBytes } from './rlp.ts';

export type EthereumTransactionType = 'LEGACY' | 'TYPE_1' | 'TYPE_2' | 'TYPE_3' | 'TYPE_4';

/** One signed EIP-7702 authorization inside a transaction. */
export interface SignedAuthorization {
  /** 0 means every chain. */
  readonly chainId: bigint;
  readonly address: string;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/** An unsigned transaction of any type. Hex is lower case with 0x; members a type does not have are 0 or empty. */
export interface EthereumTransaction {
  readonly type: EthereumTransactionType;
  /** 0 only for a legacy transaction without the replay protection of EIP-155. */
  readonly chainId: bigint;
  readonly nonce: bigint;
  /** The empty string for a contract creation. */
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
  /** The first four bytes of data, or the empty string. */
  readonly selector: string;
  readonly gas: bigint;
  /** Equals maxFeePerGas for the types that have that instead. */
  readonly gasPrice: bigint;
  /** Equal to gasPrice for the types that have that instead, so that a bound on fees holds for every type. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerBlobGas: bigint;
  readonly accessList: readonly AccessListEntry[];
  readonly blobVersionedHashes: readonly string[];
  readonly authorizationList: readonly SignedAuthorization[];
}

const TYPES = new Map<number, readonly [type: Exclude<EthereumTransactionType, 'LEGACY'>, fields: number]>([
  [0x01, ['TYPE_1', 8]],
  [0x02, ['TYPE_2', 9]],
  [0x03, ['TYPE_3', 11]],
  [0x04, ['TYPE_4', 10]],
]);
const TYPE_BYTES = { TYPE_1: 0x01, TYPE_2: 0x02, TYPE_3: 0x03, TYPE_4: 0x04 } as const;
/** EIP-4844: the first byte of a versioned hash of a KZG commitment. */
const KZG_VERSION = '0x01';

const NOTHING = {
  maxFeePerBlobGas: 0n,
  accessList: [],
  blobVersionedHashes: [],
  authorizationList: [],
} as const;

/**
 * Reads an unsigned transaction. Whatever is not exactly the canonical form of one is refused as INVALID_TRANSACTION.
 */
export function parseEthereumTransaction(hex: string): EthereumTransaction {
  const bytes = transactionBytes(hex);
  const first = bytes[0] as number;
  // EIP-2718: a first byte from 0xc0 on is the list of a legacy transaction, one up to 0x7f is a type.
  if (first >= 0xc0) return parseLegacy(readList(decodeRlp(bytes), 'transaction'));
  const known = TYPES.get(first);
  if (known === undefined) refuseTransaction(`unknown transaction type 0x${first.toString(16).padStart(2, '0')}`);
  const [type, count] = known;
  const fields = readList(decodeRlp(bytes.subarray(1)), 'transaction');
  if (type === 'TYPE_3' && Array.isArray(fields[0])) {
    refuseTransaction('the EIP-4844 network form with blobs is not accepted, send the transaction without the sidecar');
  }
  if (fields.length === count + 3) refuseTransaction('it already contains a signature');
  if (fields.length !== count) refuseTransaction(`${fields.length} fields, expected ${count}`);
  return type === 'TYPE_1' ? parseAccessListTransaction(fields) : parseDynamicFee(type, fields);
}

/** EIP-155: nine fields, the last three being chain id, empty, empty; six fields before it. */
function parseLegacy(fields: readonly RlpItem[]): EthereumTransaction {
  if (fields.length !== 6 && fields.length !== 9) refuseTransaction(`${fields.length} fields, expected 6 or 9`);
  const [nonce, gasPrice, gas, to, value, data, chainId, r, s] = fields;
  if (fields.length === 9 && (readBytes(r, 'r').length > 0 || readBytes(s, 's').length > 0)) {
    refuseTransaction('it already contains a signature');
  }
  return {
    type: 'LEGACY',
    chainId: fields.length === 9 ? readChainId(chainId) : 0n,
    nonce: readUint(nonce, 'nonce', NONCE_MAX),
    ...readCall(readOptionalAddress(to, 'to'), value, data),
    ...readGasPrice(gasPrice, gas),
    ...NOTHING,
  };
}

/** EIP-2930. */
function parseAccessListTransaction(fields: readonly RlpItem[]): EthereumTransaction {
  const [chainId, nonce, gasPrice, gas, to, value, data, accessList] = fields;
  return {
    type: 'TYPE_1',
    chainId: readChainId(chainId),
    nonce: readUint(nonce, 'nonce', NONCE_MAX),
    ...readCall(readOptionalAddress(to, 'to'), value, data),
    ...readGasPrice(gasPrice, gas),
    ...NOTHING,
    accessList: readAccessList(accessList),
  };
}

/** EIP-1559, and EIP-4844 and EIP-7702, which append to its fields and allow no contract creation. */
function parseDynamicFee(type: 'TYPE_2' | 'TYPE_3' | 'TYPE_4', fields: readonly RlpItem[]): EthereumTransaction {
  const [chainId, nonce, priorityFee, maxFee, gas, to, value, data, accessList, ...rest] = fields;
  const maxFeePerGas = readUint(maxFee, 'maxFeePerGas', UINT256_MAX);
  return {
    type,
    chainId: readChainId(chainId),
    nonce: readUint(nonce, 'nonce', NONCE_MAX),
    ...readCall(type === 'TYPE_2' ? readOptionalAddress(to, 'to') : readAddress(to, 'to'), value, data),
    gas: readUint(gas, 'gas', UINT64_MAX),
    gasPrice: maxFeePerGas,
    maxFeePerGas,
    maxPriorityFeePerGas: readUint(priorityFee, 'maxPriorityFeePerGas', UINT256_MAX),
    ...NOTHING,
    accessList: readAccessList(accessList),
    ...(type === 'TYPE_3' ? readBlobFields(rest) : {}),
    ...(type === 'TYPE_4' ? { authorizationList: readAuthorizationList(rest[0]) } : {}),
  };
}

function readCall(to: string, value: RlpItem | undefined, dataItem: RlpItem | undefined) {
  const data = readHex(dataItem, 'data');
  return { to, value: readUint(value, 'value', UINT256_MAX), data, selector: selectorOf(data) };
}

function readGasPrice(price: RlpItem | undefined, gas: RlpItem | undefined) {
  const gasPrice = readUint(price, 'gasPrice', UINT256_MAX);
  return {
    gas: readUint(gas, 'gas', UINT64_MAX),
    gasPrice,
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: gasPrice,
  };
}

function readBlobFields([blobFee, hashes]: readonly RlpItem[]) {
  const blobVersionedHashes = readList(hashes, 'blobVersionedHashes').map((hash) =>
    readFixed(hash, 'blob versioned hash', 32),
  );
  if (blobVersionedHashes.length === 0) refuseTransaction('blobVersionedHashes is empty');
  for (const hash of blobVersionedHashes) {
    if (!hash.startsWith(KZG_VERSION)) refuseTransaction('a blob versioned hash does not start with the byte 01');
  }
  return { maxFeePerBlobGas: readUint(blobFee, 'maxFeePerBlobGas', UINT256_MAX), blobVersionedHashes };
}

/** EIP-7702 bounds the members of a tuple and lets the chain skip one whose signature is wrong. */
function readAuthorizationList(item: RlpItem | undefined): readonly SignedAuthorization[] {
  const list = readList(item, 'authorizationList');
  if (list.length === 0) refuseTransaction('authorizationList is empty');
  return list.map((entry) => {
    const [chainId, address, nonce, yParity, r, s] = readTuple(entry, 'authorization', 6);
    return {
      chainId: readUint(chainId, 'authorization chainId', UINT256_MAX),
      address: readAddress(address, 'authorization address'),
      nonce: readUint(nonce, 'authorization nonce', UINT64_MAX),
      yParity: readUint(yParity, 'authorization yParity', 255n),
      r: readUint(r, 'authorization r', UINT256_MAX),
      s: readUint(s, 'authorization s', UINT256_MAX),
    };
  });
}

/** The unsigned serialisation, hex without 0x. For a transaction that was parsed it is exactly what was given. */
export function serializeEthereumTransaction(tx: EthereumTransaction): string {
  return toHex(signingBytes(tx));
}

/**
 * The digest and signed form of a transaction. Both are made from the parsed form and not from the text, so that what is
 * signed is what a policy saw.
 */
export function signableEthereum(hex: string, signer: SignerAccount): Signable {
  requireSecp256k1(signer);
  const tx = parseEthereumTransaction(hex);
  return {
    payloads: [keccak_256(signingBytes(tx))],
    attach(signatures) {
      const { r, s, v } = onlySignature(signatures);
      const signature = [uintItem(signatureV(tx, v)), signatureUint(r), signatureUint(s)];
      return toHex(envelope(tx, [...commonFields(tx), ...signature]));
    },
  };
}

/** EIP-155 for legacy transactions that name a chain, 27 or 28 for those that do not, the parity for typed ones. */
function signatureV(tx: EthereumTransaction, parity: 0 | 1): bigint {
  if (tx.type !== 'LEGACY') return BigInt(parity);
  return (tx.chainId === 0n ? 27n : 35n + 2n * tx.chainId) + BigInt(parity);
}

function signingBytes(tx: EthereumTransaction): Uint8Array {
  const protection = tx.type === 'LEGACY' && tx.chainId > 0n ? [uintItem(tx.chainId), uintItem(0n), uintItem(0n)] : [];
  return envelope(tx, [...commonFields(tx), ...protection]);
}

function envelope(tx: EthereumTransaction, fields: readonly RlpItem[]): Uint8Array {
  const list = encodeRlp(fields);
  return tx.type === 'LEGACY' ? list : Buffer.concat([Uint8Array.of(TYPE_BYTES[tx.type]), list]);
}

/** The fields that the unsigned and the signed form share. */
function commonFields(tx: EthereumTransaction): readonly RlpItem[] {
  const call = [uintItem(tx.gas), hexItem(tx.to), uintItem(tx.value), hexItem(tx.data)];
  if (tx.type === 'LEGACY') return [uintItem(tx.nonce), uintItem(tx.gasPrice), ...call];
  const fees =
    tx.type === 'TYPE_1' ? [uintItem(tx.gasPrice)] : [uintItem(tx.maxPriorityFeePerGas), uintItem(tx.maxFeePerGas)];
  const fields = [uintItem(tx.chainId), uintItem(tx.nonce), ...fees, ...call, accessListItem(tx.accessList)];
  if (tx.type === 'TYPE_3') fields.push(uintItem(tx.maxFeePerBlobGas), tx.blobVersionedHashes.map(hexItem));
  if (tx.type === 'TYPE_4') fields.push(tx.authorizationList.map(authorizationItem));
  return fields;
}

function authorizationItem(authorization: SignedAuthorization): RlpItem {
  const { chainId, address, nonce, yParity, r, s } = authorization;
  return [uintItem(chainId), hexItem(address), uintItem(nonce), uintItem(yParity), uintItem(r), uintItem(s)];
}
