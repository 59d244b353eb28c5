/** What every scheme answers with: 32 bytes each, and the recovery parity where the scheme has one. */
export interface Signature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  /** ECDSA: whether y of the nonce's point is odd, after low-S. Ed25519 and Schnorr: 0. */
  readonly v: 0 | 1;
}

/** The halves of a signature of 64 bytes. */
export function splitSignature(signature: Uint8Array, v: 0 | 1 = 0): Signature {
  return { r: new Uint8Array(signature.subarray(0, 32)), s: new Uint8Array(signature.subarray(32, 64)), v };
}

const FLAT_BYTES = 65;

/** All of them in one array, which crosses a channel at a fraction of the cost of many small ones: r, s, v of each. */
export function flattenSignatures(signatures: readonly Signature[]): Uint8Array {
  const flat = new Uint8Array(signatures.length * FLAT_BYTES);
  for (const [index, { r, s, v }] of signatures.entries()) {
    flat.set(r, index * FLAT_BYTES);
    flat.set(s, index * FLAT_BYTES + 32);
    flat[index * FLAT_BYTES + 64] = v;
  }
  return flat;
}

export function unflattenSignatures(flat: Uint8Array): Signature[] {
  return Array.from({ length: flat.length / FLAT_BYTES }, (_, index) => {
    const at = index * FLAT_BYTES;
    return splitSignature(flat.subarray(at, at + 64), flat[at + 64] === 1 ? 1 : 0);
  });
}

/** r || s. */
export function joinSignature({ r, s }: Signature): Uint8Array {
  const signature = new Uint8Array(64);
  signature.set(r);
  signature.set(s, 32);
  return signature;
}
