import { refused } from './input.ts';

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

/** Who is asked to sign: one account, or a key by its id, which stands for all its addresses. */
export interface Candidates {
  readonly account: SignerAccount;
  readonly addresses: readonly SignerAccount[];
}

export interface FittedSignable<Parsed = unknown> {
  /** The account that the signatures are made as. */
  readonly account: SignerAccount;
  readonly signable: Signable;
  /** What the transaction says, on chains where that depends on which of the candidates signs. */
  readonly parsed?: Parsed;
}

export const isTaproot = (addressFormat: string): boolean => /^ADDRESS_FORMAT_BITCOIN_.*_P2TR$/.test(addressFormat);
export const isSpark = (addressFormat: string): boolean => addressFormat.startsWith('ADDRESS_FORMAT_SPARK_');

/**
 * For chains on which any address of a key signs alike. Accounts that sign with Schnorr signatures are not for them.
 */
export const fitAccount =
  (sign: (unsigned: string, account: SignerAccount) => Signable) =>
  (unsigned: string, { account }: Candidates): FittedSignable<never> => {
    if (isTaproot(account.addressFormat) || isSpark(account.addressFormat)) {
      throw refused('an account that signs with Schnorr signatures cannot sign it');
    }
    return { account, signable: sign(unsigned, account) };
  };
