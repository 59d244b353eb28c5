import { keccak_256 } from '@noble/hashes/sha3.js';
import { hexItem, NONCE_MAX, UINT256_MAX, uintItem } from './fields.ts';
import { asHex, asInteger, member, parseJsonObject, refusePayload, shown } from './json-values.ts';
import { encodeRlp } from './rlp.ts';

export interface HashedAuthorization {
  readonly digest: Uint8Array;
  /** Lower case with 0x. */
  readonly address: string;
  /** 0 means every chain. */
  readonly chainId: bigint;
  readonly nonce: bigint;
}

/** The first byte of what EIP-7702 hashes for an authorization. */
const MAGIC = 0x05;
const MEMBERS = new Set(['address', 'chainId', 'nonce']);

/** The digest of an EIP-7702 authorization given as JSON `{address, chainId, nonce}`. */
export function hashAuthorizationJson(text: string): HashedAuthorization {
  const object = parseJsonObject(text);
  for (const name of Object.keys(object)) {
    if (!MEMBERS.has(name)) refusePayload(`unknown member ${shown(name)} of an authorization`);
  }
  const address = asHex(member(object, 'address'), 20, 'address');
  const chainId = asInteger(member(object, 'chainId'), 0n, UINT256_MAX, 'chainId');
  const nonce = asInteger(member(object, 'nonce'), 0n, NONCE_MAX, 'nonce');
  const list = encodeRlp([uintItem(chainId), hexItem(address), uintItem(nonce)]);
  return { digest: keccak_256(Buffer.concat([Uint8Array.of(MAGIC), list])), address, chainId, nonce };
}
