import type { Curve } from '../curve.ts';

/** A public key that is known to be one of its curve. */
export interface PublicKey {
  /** SEC1 compressed, or the 32 bytes of Ed25519. */
  readonly bytes: Uint8Array;
  /** SEC1 uncompressed. Ed25519 has only one form, so here it never gets asked. */
  uncompressed(): Uint8Array;
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
}
