import type { KeyObject } from 'node:crypto';
import { inspect } from 'node:util';

const SHOWN = '[secret]';

/**
 * A private key with its chain code: one node of a derivation tree. It owns both arrays, does not print them and is
 * wiped by whoever holds it. Unlike a Secret it may be used many times, because a cache keeps parents.
 */
export class KeyNode {
  readonly #privateKey: Uint8Array;
  readonly #chainCode: Uint8Array;
  #publicKey: Uint8Array | undefined;
  #signingKey: KeyObject | undefined;
  #wiped = false;

  constructor(privateKey: Uint8Array, chainCode: Uint8Array) {
    this.#privateKey = privateKey;
    this.#chainCode = chainCode;
  }

  /** Lent, not given: the array is zeros after `wipe`. A method, because printers call getters. */
  privateKey(): Uint8Array {
    this.#checkUsable();
    return this.#privateKey;
  }

  /** Lent, not given: the array is zeros after `wipe`. */
  chainCode(): Uint8Array {
    this.#checkUsable();
    return this.#chainCode;
  }

  /** The public key, computed once: it is most of the cost of a non-hardened child. */
  publicKey(compute: (privateKey: Uint8Array) => Uint8Array): Uint8Array {
    this.#checkUsable();
    this.#publicKey ??= compute(this.#privateKey);
    return this.#publicKey;
  }

  /** The key inside OpenSSL, imported once: that costs as much as a signature. */
  signingKey(importKey: (privateKey: Uint8Array) => KeyObject): KeyObject {
    this.#checkUsable();
    this.#signingKey ??= importKey(this.#privateKey);
    return this.#signingKey;
  }

  /** The chain code and the public key lead from one child's key to the parent's, so they go as well. */
  wipe(): void {
    this.#wiped = true;
    this.#privateKey.fill(0);
    this.#chainCode.fill(0);
    this.#publicKey?.fill(0);
    // OpenSSL wipes it when it is collected.
    this.#signingKey = undefined;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }

  [Symbol.dispose](): void {
    this.wipe();
  }

  #checkUsable(): void {
    if (this.#wiped) throw new Error('a wiped node cannot be used');
  }
}

/** I of BIP-32 and SLIP-0010 as a node: I_L is the key, I_R the chain code. Wipes I. */
export function splitNode(hash: Uint8Array): KeyNode {
  const node = new KeyNode(new Uint8Array(hash.subarray(0, 32)), new Uint8Array(hash.subarray(32)));
  hash.fill(0);
  return node;
}

/**
 * What a child's I is the HMAC of: 0x00 || ser256(k) || ser32(i) of a private key, serP(K) || ser32(i) of a compressed
 * point. The caller wipes it.
 */
export function childData(key: Uint8Array, index: number): Uint8Array {
  const data = new Uint8Array(37);
  data.set(key, 33 - key.length);
  new DataView(data.buffer).setUint32(33, index);
  return data;
}
