import { assert } from '../../lib/assert.ts';
import { toHex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import type { RawSignature, SignerAccount } from '../signable.ts';
import { type RlpItem, refuseTransaction } from './rlp.ts';

/** One entry of an EIP-2930 access list. */
export interface AccessListEntry {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

/** EIP-2294: the largest chain id whose legacy v still fits in 64 bits. */
export const CHAIN_ID_MAX = 2n ** 63n - 37n;
/** EIP-2681: a nonce is below 2^64 - 1. */
export const NONCE_MAX = 2n ** 64n - 2n;
export const UINT64_MAX = 2n ** 64n - 1n;
export const UINT128_MAX = 2n ** 128n - 1n;
export const UINT256_MAX = 2n ** 256n - 1n;

const EMPTY = new Uint8Array(0);

export function readList(item: RlpItem | undefined, name: string): readonly RlpItem[] {
  if (item === undefined) return refuseTransaction(`${name} is missing`);
  return item instanceof Uint8Array ? refuseTransaction(`${name} is not a list`) : item;
}

export function readTuple(item: RlpItem | undefined, name: string, length: number): readonly RlpItem[] {
  const list = readList(item, name);
  if (list.length !== length) refuseTransaction(`${name} has ${list.length} items, expected ${length}`);
  return list;
}

export function readBytes(item: RlpItem | undefined, name: string): Uint8Array {
  if (item === undefined) return refuseTransaction(`${name} is missing`);
  return item instanceof Uint8Array ? item : refuseTransaction(`${name} is a list`);
}

/** Bytes as lower-case hex with 0x. */
export function readHex(item: RlpItem | undefined, name: string): string {
  return `0x${toHex(readBytes(item, name))}`;
}

export function readFixed(item: RlpItem | undefined, name: string, length: number): string {
  const bytes = readBytes(item, name);
  if (bytes.length !== length) refuseTransaction(`${name} has ${bytes.length} bytes, expected ${length}`);
  return `0x${toHex(bytes)}`;
}

export const readAddress = (item: RlpItem | undefined, name: string): string => readFixed(item, name, 20);

/** An address, or the empty string where there is none. */
export function readOptionalAddress(item: RlpItem | undefined, name: string): string {
  return readBytes(item, name).length === 0 ? '' : readAddress(item, name);
}

export function readUint(item: RlpItem | undefined, name: string, max: bigint): bigint {
  const bytes = readBytes(item, name);
  if (bytes.length > 32) refuseTransaction(`${name} is out of range`);
  if (bytes[0] === 0) refuseTransaction(`${name} has leading zeros`);
  const value = bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`);
  if (value > max) refuseTransaction(`${name} is out of range`);
  return value;
}

/** No chain has the id 0, and policies read 0 as a transaction without replay protection. */
export function readChainId(item: RlpItem | undefined): bigint {
  const chainId = readUint(item, 'chainId', CHAIN_ID_MAX);
  return chainId === 0n ? refuseTransaction('chainId is 0') : chainId;
}

export function readAccessList(item: RlpItem | undefined): readonly AccessListEntry[] {
  return readList(item, 'accessList').map((entry) => {
    const [address, keys] = readTuple(entry, 'accessList entry', 2);
    return {
      address: readAddress(address, 'accessList address'),
      storageKeys: readList(keys, 'accessList storage keys').map((key) => readFixed(key, 'accessList storage key', 32)),
    };
  });
}

/** The first four bytes of call data, or the empty string when there are fewer. */
export const selectorOf = (data: string): string => (data.length >= 10 ? data.slice(0, 10) : '');

export function uintItem(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY;
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

/** Bytes from hex with 0x; the empty string is the absent address. */
export const hexItem = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex');

export function accessListItem(list: readonly AccessListEntry[]): RlpItem {
  return list.map(({ address, storageKeys }) => [hexItem(address), storageKeys.map(hexItem)]);
}

/** The one signature of a transaction; a wrong number or length is a mistake of ours. */
export function onlySignature(signatures: readonly RawSignature[]): RawSignature {
  const [signature] = signatures;
  assert(signature !== undefined && signatures.length === 1, 'one signature for one payload');
  assert(signature.r.length === 32 && signature.s.length === 32, 'r and s of 32 bytes each');
  return signature;
}

export const signatureUint = (bytes: Uint8Array): Uint8Array => uintItem(BigInt(`0x${toHex(bytes)}`));

/** Tempo takes other kinds of signatures too, which are not offered here. */
export function requireSecp256k1(signer: SignerAccount): void {
  if (signer.curve === 'CURVE_SECP256K1') return;
  throw new ApiError('INVALID_TRANSACTION', `a key on ${signer.curve} cannot sign it, only one on CURVE_SECP256K1`);
}
