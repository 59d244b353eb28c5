/**
 * What a chain's parser hands to the signer: the digests to sign and how to put the signatures in. No key is involved.
 */
export interface Signable {
  /** What each signature is over: 32-byte digests for ECDSA and Schnorr, whole messages for Ed25519. */
  readonly payloads: readonly Uint8Array[];
  /** Returns the signed transaction as hex without 0x. One signature per payload, in order. */
  attach(signatures: readonly RawSignature[]): string;
}

export interface RawSignature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly v: 0 | 1;
}

/** The account that signs, as the server knows it. */
export interface SignerAccount {
  readonly curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  /** Compressed 33 bytes, or 32 for Ed25519. */
  readonly publicKey: Uint8Array;
  readonly address: string;
  readonly addressFormat: string;
}
