import type { Curve } from '../curve.ts';

/** A public key that is known to be one of its curve. */
export interface PublicKey {
  /** SEC1 compressed, or the 32 bytes of Ed25519. */
  readonly bytes: Uint8Array;
  /** SEC1 uncompressed. Ed25519 has only one form, so here it never gets asked. */
  uncompressed(): Uint8Array;
  /** Of secp256k1 alone: the x coordinate of the taproot output key without a script tree (BIP-86). */
  taproot(): Uint8Array;
}

/** Of the other curves, whose formats never ask. */
export function noTaproot(): never {
  throw new Error('only keys of secp256k1 have a taproot output key');
}

/** How wallets of a chain take a private key that is given to them as text. */
export interface KeyText {
  /** What they call it. */
  readonly name: string;
  readonly encode: (privateKey: Uint8Array, publicKey: Uint8Array) => string;
}

/** Everything that is known about an address format. Wire enum, SDK types and reference pages follow from it. */
export interface Format {
  readonly name: `ADDRESS_FORMAT_${string}`;
  readonly curves: readonly Curve[];
  /** The CAIP-2 namespace of the chain, where the registry of the Chain Agnostic Standards Alliance has one. */
  readonly caip2Prefix?: string;
  /** The path of a first account in most wallets of the chain. For readers: any path works with any format. */
  readonly usualPath?: string;
  /** What an address looks like, for readers. */
  readonly looksLike: string;
  readonly encode: (key: PublicKey) => string;
  /** Absent where wallets take plain hexadecimal, or nothing at all. */
  readonly keyText?: KeyText;
}
