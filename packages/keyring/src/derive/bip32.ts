import { addSecp256k1Keys, isSecp256k1Key, secp256k1PublicKey } from '../sign/secp256k1.ts';
import { invalid } from './check.ts';
import { hmacSha512 } from './hash.ts';
import { childData, KeyNode, splitNode } from './node.ts';
import { checkIndex, isHardened } from './path.ts';

const SEED_BYTES_MIN = 16;
const SEED_BYTES_MAX = 64;

/** BIP-32, master key generation. */
export function bip32Master(seed: Uint8Array): KeyNode {
  checkSeed(seed);
  const node = splitNode(hmacSha512('Bitcoin seed', seed));
  if (!isSecp256k1Key(node.privateKey())) {
    node.wipe();
    throw invalid('the seed has no secp256k1 master key');
  }
  return node;
}

/** BIP-32, CKDpriv: a hardened child when the index has its top bit set. */
export function bip32Child(parent: KeyNode, index: number): KeyNode {
  checkIndex(index);
  const data = childData(isHardened(index) ? parent.privateKey() : parent.publicKey(secp256k1PublicKey), index);
  const hash = hmacSha512(parent.chainCode(), data);
  data.fill(0);
  try {
    // An I_L outside of the group, or a sum of zero, has no child (probability below 2^-127). BIP-32 leaves the next
    // index to the caller, who asked for this one.
    const key = addSecp256k1Keys(parent.privateKey(), hash.subarray(0, 32));
    if (key === undefined) throw invalid('the parent has no child at this index');
    return new KeyNode(key, new Uint8Array(hash.subarray(32)));
  } finally {
    hash.fill(0);
  }
}

/** The seeds of BIP-32 and SLIP-0010: 128 to 512 bits. */
export function checkSeed(seed: unknown): asserts seed is Uint8Array {
  if (!(seed instanceof Uint8Array) || seed.length < SEED_BYTES_MIN || seed.length > SEED_BYTES_MAX) {
    throw invalid(`a seed has ${SEED_BYTES_MIN} to ${SEED_BYTES_MAX} bytes`);
  }
}
