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

/** r || s. */
export function joinSignature({ r, s }: Signature): Uint8Array {
  const signature = new Uint8Array(64);
  signature.set(r);
  signature.set(s, 32);
  return signature;
}
