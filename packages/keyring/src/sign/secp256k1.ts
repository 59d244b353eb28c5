import { createHash, randomFillSync } from 'node:crypto';
import {
  isPrivate,
  pointFromScalar,
  privateAdd,
  privateNegate,
  signRecoverable,
  signSchnorr as signSchnorrNative,
  verify,
  verifySchnorr as verifySchnorrNative,
  xOnlyPointAddTweak,
  xOnlyPointFromScalar,
} from 'tiny-secp256k1';
import { checkLength, invalid, type PointForm } from '../derive/check.ts';
import { joinSignature, type Signature, splitSignature } from './signature.ts';

// libsecp256k1, compiled to WebAssembly: constant time, and it wipes the memory it was given keys in.

/** 32 bytes, 1 to n - 1. */
export function isSecp256k1Key(bytes: Uint8Array): boolean {
  return isPrivate(bytes);
}

export function secp256k1PublicKey(privateKey: Uint8Array, form: PointForm = 'compressed'): Uint8Array {
  checkKey(privateKey);
  const point = pointFromScalar(privateKey, form !== 'uncompressed');
  if (point === null) throw invalid('not a secp256k1 private key');
  return point;
}

/** The sum modulo n; undefined when the second number is not below n or the sum is 0. */
export function addSecp256k1Keys(privateKey: Uint8Array, tweak: Uint8Array): Uint8Array | undefined {
  checkKey(privateKey);
  checkLength(tweak, 32, 'a tweak');
  try {
    return privateAdd(privateKey, tweak) ?? undefined;
  } catch {
    return undefined;
  }
}

/** ECDSA over a digest, with the nonce of RFC 6979 (HMAC-SHA-256) and low-S (BIP-62, rule 5). */
export function signEcdsaSecp256k1(digest: Uint8Array, privateKey: Uint8Array): Signature {
  checkDigest(digest);
  checkKey(privateKey);
  const { signature, recoveryId } = signRecoverable(digest, privateKey);
  // Ids 2 and 3 say that x of the nonce's point was not below n, which happens with probability 2^-127.
  if (recoveryId !== 0 && recoveryId !== 1) throw invalid('this digest has no signature with a recovery parity');
  return splitSignature(signature, recoveryId);
}

/** The public key may be compressed or not. A high s is refused unless `highS` is true. */
export function verifyEcdsaSecp256k1(
  digest: Uint8Array,
  publicKey: Uint8Array,
  signature: Pick<Signature, 'r' | 's'>,
  highS = false,
): boolean {
  try {
    return verify(digest, publicKey, joinSignature({ ...signature, v: 0 }), !highS);
  } catch {
    return false;
  }
}

/**
 * BIP-340 over a digest of 32 bytes. The auxiliary bytes are fresh and random, as the standard recommends; 32 zeros make
 * the signature deterministic.
 */
export function signSchnorr(
  digest: Uint8Array,
  privateKey: Uint8Array,
  auxiliary: Uint8Array = randomFillSync(new Uint8Array(32)),
): Uint8Array {
  checkDigest(digest);
  checkKey(privateKey);
  checkLength(auxiliary, 32, 'auxiliary randomness');
  return signSchnorrNative(digest, privateKey, auxiliary);
}

export function verifySchnorr(digest: Uint8Array, xOnlyPublicKey: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verifySchnorrNative(digest, xOnlyPublicKey, signature);
  } catch {
    return false;
  }
}

/** The x coordinate of the public key (BIP-340). */
export function xOnlyPublicKey(privateKey: Uint8Array): Uint8Array {
  checkKey(privateKey);
  return xOnlyPointFromScalar(privateKey);
}

/** BIP-341, taproot_tweak_seckey: for a key path alone without a Merkle root (BIP-86). The caller wipes it. */
export function taprootPrivateKey(privateKey: Uint8Array, merkleRoot?: Uint8Array): Uint8Array {
  const point = secp256k1PublicKey(privateKey);
  const even = point[0] === 0x02 ? new Uint8Array(privateKey) : privateNegate(privateKey);
  try {
    const tweaked = addSecp256k1Keys(even, taprootTweak(point.subarray(1), merkleRoot));
    if (tweaked === undefined) throw invalid('the key has no taproot output key');
    return tweaked;
  } finally {
    even.fill(0);
  }
}

/** BIP-341, taproot_tweak_pubkey: the x coordinate of the output key and the parity of its y. */
export function taprootPublicKey(
  internalKey: Uint8Array,
  merkleRoot?: Uint8Array,
): { readonly xOnly: Uint8Array; readonly parity: 0 | 1 } {
  checkLength(internalKey, 32, 'an x-only public key');
  const tweak = taprootTweak(internalKey, merkleRoot);
  try {
    const result = xOnlyPointAddTweak(internalKey, tweak);
    if (result !== null) return { xOnly: result.xOnlyPubkey, parity: result.parity };
  } catch {
    // The answer is the same as for a tweak without a point: this key cannot be used.
  }
  throw invalid('the key has no taproot output key');
}

/** BIP-340 with the key-path tweak of BIP-341. */
export function signTaproot(
  digest: Uint8Array,
  privateKey: Uint8Array,
  options: { readonly merkleRoot?: Uint8Array; readonly auxiliary?: Uint8Array } = {},
): Uint8Array {
  const tweaked = taprootPrivateKey(privateKey, options.merkleRoot);
  try {
    return signSchnorr(digest, tweaked, options.auxiliary);
  } finally {
    tweaked.fill(0);
  }
}

/** hash_TapTweak(x(P) || root), with the tagged hash of BIP-340. */
export function taprootTweak(internalKey: Uint8Array, merkleRoot?: Uint8Array): Uint8Array {
  const tag = createHash('sha256').update('TapTweak').digest();
  const hash = createHash('sha256').update(tag).update(tag).update(internalKey);
  if (merkleRoot !== undefined) {
    checkLength(merkleRoot, 32, 'a Merkle root');
    hash.update(merkleRoot);
  }
  return new Uint8Array(hash.digest());
}

function checkDigest(digest: unknown): void {
  checkLength(digest, 32, 'a digest');
}

function checkKey(privateKey: Uint8Array): void {
  if (!isPrivate(privateKey)) throw invalid('not a secp256k1 private key');
}
