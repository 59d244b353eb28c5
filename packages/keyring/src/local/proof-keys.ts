import { generatePrivateKey, importSigningKey, newAgreement, type SigningKey } from '../bundle/p256.ts';
import type { RandomBytes } from '../seal/envelope.ts';
import { Secret } from '../secret.ts';

interface Pair {
  readonly signer: SigningKey;
  readonly encryptionPublicKey: Uint8Array;
}

/** The pair that signs app proofs: made when it is first used, and nowhere else. */
export class ProofKeys {
  readonly #random: RandomBytes;
  #pair: Pair | undefined;

  constructor(random: RandomBytes) {
    this.#random = random;
  }

  get pair(): Pair {
    // Nothing is ever encrypted to the public key, so its private half is not kept.
    this.#pair ??= {
      signer: new Secret(generatePrivateKey(this.#random)).use(importSigningKey),
      encryptionPublicKey: newAgreement().publicKey,
    };
    return this.#pair;
  }

  clear(): void {
    this.#pair = undefined;
  }
}
