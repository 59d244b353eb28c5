import { p256PublicKey } from '../sign/p256.ts';
import { addP256Scalars, isP256Scalar } from '../sign/p256-scalar.ts';
import { checkSeed } from './bip32.ts';
import { hmacSha512 } from './hash.ts';
import { childData, KeyNode, splitNode } from './node.ts';
import { checkIndex, harden, isHardened } from './path.ts';

// SLIP-0010 for the two curves that BIP-32 does not cover.

/** SLIP-0010, master key generation: every I_L is an Ed25519 key. */
export function ed25519Master(seed: Uint8Array): KeyNode {
  checkSeed(seed);
  return splitNode(hmacSha512('ed25519 seed', seed));
}

/** SLIP-0010 has only hardened children on Ed25519; a non-hardened index means the hardened child. */
export function ed25519Child(parent: KeyNode, index: number): KeyNode {
  checkIndex(index);
  const data = childData(parent.privateKey(), harden(index));
  const hash = hmacSha512(parent.chainCode(), data);
  data.fill(0);
  return splitNode(hash);
}

/** SLIP-0010, master key generation: while I_L is 0 or not below n, I is the next seed. */
export function p256Master(seed: Uint8Array): KeyNode {
  checkSeed(seed);
  let hash = hmacSha512('Nist256p1 seed', seed);
  while (!isP256Scalar(hash.subarray(0, 32))) {
    const next = hmacSha512('Nist256p1 seed', hash);
    hash.fill(0);
    hash = next;
  }
  return splitNode(hash);
}

/** SLIP-0010, private parent key to private child key, with step 5: a new I from 0x01 || I_R || ser32(i). */
export function p256Child(parent: KeyNode, index: number): KeyNode {
  checkIndex(index);
  const data = childData(isHardened(index) ? parent.privateKey() : parent.publicKey(p256PublicKey), index);
  for (;;) {
    const hash = hmacSha512(parent.chainCode(), data);
    const right = hash.subarray(32);
    const key = addP256Scalars(parent.privateKey(), hash.subarray(0, 32));
    if (key !== undefined) {
      const node = new KeyNode(key, new Uint8Array(right));
      hash.fill(0);
      data.fill(0);
      return node;
    }
    data[0] = 1;
    data.set(right, 1);
    hash.fill(0);
  }
}
