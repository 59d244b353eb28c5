import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../../lib/encoding.ts';
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
  return { digest: authorizationDigest({ chainId, address, nonce }), address, chainId, nonce };
}

interface Authorization {
  readonly chainId: bigint;
  readonly address: string;
  readonly nonce: bigint;
}

function authorizationDigest({ chainId, address, nonce }: Authorization): Uint8Array {
  const list = encodeRlp([uintItem(chainId), hexItem(address), uintItem(nonce)]);
  return keccak_256(Buffer.concat([Uint8Array.of(MAGIC), list]));
}

/** Whose account a signed authorization is about, in lower case; undefined when no key has made the signature. */
export function authorityOf(
  authorization: Authorization & { readonly yParity: bigint; readonly r: bigint; readonly s: bigint },
): string | undefined {
  const { yParity, r, s } = authorization;
  try {
    const signature = new secp256k1.Signature(r, s, Number(yParity));
    const point = signature.recoverPublicKey(authorizationDigest(authorization)).toBytes(false);
    return `0x${toHex(keccak_256(point.subarray(1)).subarray(12))}`;
  } catch {
    return undefined;
  }
}
