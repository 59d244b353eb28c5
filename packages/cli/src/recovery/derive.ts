import type { Curve, PublicKey } from '@custos/keyring/formats';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { hmac } from '@noble/hashes/hmac.js';
import { pbkdf2Async } from '@noble/hashes/pbkdf2.js';
import { sha512 } from '@noble/hashes/sha2.js';

// BIP-39, BIP-32 and SLIP-0010, written a second time and with other libraries than the keyring's: what a kit says is
// checked by code that had no part in making it. It is for somebody at a terminal or a page, and is neither constant in time
// nor as fast.

const HARDENED = 0x8000_0000;
const LEVEL = /^(0|[1-9][0-9]{0,9})(['hH]?)$/;

interface Node {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
}

/** What tells the curves apart. */
interface CurveSteps {
  readonly master: string;
  /** The order of the group; on Ed25519 keys are not numbers. */
  readonly order?: bigint;
  readonly publicKey: (key: Uint8Array) => PublicKey;
}

const noTaproot = (): never => {
  throw new Error('only keys of secp256k1 have a taproot output key');
};

const CURVES: Readonly<Record<Curve, CurveSteps>> = {
  CURVE_SECP256K1: {
    master: 'Bitcoin seed',
    order: secp256k1.Point.Fn.ORDER,
    publicKey: (key) => ({
      bytes: secp256k1.getPublicKey(key, true),
      uncompressed: () => secp256k1.getPublicKey(key, false),
      // BIP-341 with BIP-86: the internal key with an even y, tweaked without a script tree.
      taproot() {
        const internal = secp256k1.getPublicKey(key, true).subarray(1);
        const tweak = toNumber(schnorr.utils.taggedHash('TapTweak', internal));
        const output = schnorr.utils.lift_x(toNumber(internal)).add(secp256k1.Point.BASE.multiply(tweak));
        return schnorr.utils.pointToBytes(output);
      },
    }),
  },
  CURVE_P256: {
    master: 'Nist256p1 seed',
    order: p256.Point.Fn.ORDER,
    publicKey: (key) => ({
      bytes: p256.getPublicKey(key, true),
      uncompressed: () => p256.getPublicKey(key, false),
      taproot: noTaproot,
    }),
  },
  CURVE_ED25519: {
    master: 'ed25519 seed',
    publicKey: (key) => {
      const bytes = ed25519.getPublicKey(key);
      return { bytes, uncompressed: () => bytes, taproot: noTaproot };
    },
  },
};

export const isCurve = (name: string): name is Curve => Object.hasOwn(CURVES, name);

export const publicKeyOf = (curve: Curve, key: Uint8Array): PublicKey => CURVES[curve].publicKey(key);

/** BIP-39. The browser's own PBKDF2 is some twenty times faster, where a page may use it. */
export async function seedOf(mnemonic: string, passphrase = ''): Promise<Uint8Array> {
  const password = utf8(mnemonic);
  const salt = utf8(`mnemonic${passphrase}`);
  const { subtle } = globalThis.crypto ?? {};
  if (subtle === undefined) return await pbkdf2Async(sha512, password, salt, { c: 2048, dkLen: 64 });
  const key = await subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  return new Uint8Array(await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt, iterations: 2048 }, key, 512));
}

const utf8 = (text: string) => new Uint8Array(new TextEncoder().encode(text.normalize('NFKD')));

/** The keys of one seed. What several paths have in common is derived once. */
export class Tree {
  readonly #seed: Uint8Array;
  readonly #nodes = new Map<string, Node>();

  constructor(seed: Uint8Array) {
    this.#seed = seed;
  }

  /** Undefined for a text that is no path. */
  privateKey(curve: Curve, path: string): Uint8Array | undefined {
    const [start, ...levels] = path.split('/');
    if (start !== 'm' || levels.length === 0) return undefined;
    let name = `${curve} m`;
    let node = this.#nodeAt(name, () => masterOf(curve, this.#seed));
    for (const level of levels) {
      const index = indexOf(level);
      if (index === undefined) return undefined;
      const parent = node;
      name += `/${index}`;
      node = this.#nodeAt(name, () => childOf(curve, parent, index));
    }
    return node.key;
  }

  #nodeAt(name: string, make: () => Node): Node {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#nodes.set(name, made);
    return made;
  }
}

function indexOf(level: string): number | undefined {
  const [, digits, mark] = LEVEL.exec(level) ?? [];
  const number = Number(digits);
  return digits === undefined || number >= HARDENED ? undefined : number + (mark === '' ? 0 : HARDENED);
}

function masterOf(curve: Curve, seed: Uint8Array): Node {
  const { master, order } = CURVES[curve];
  const secret = new TextEncoder().encode(master);
  let hash = hmac(sha512, secret, seed);
  // SLIP-0010 hashes again what is no key; BIP-32 has no such step, and nobody will see a seed that needs it.
  while (order !== undefined && !isKey(hash.subarray(0, 32), order)) hash = hmac(sha512, secret, hash);
  return nodeOf(hash.subarray(0, 32), hash.subarray(32));
}

function childOf(curve: Curve, { key, chainCode }: Node, index: number): Node {
  const { order, publicKey } = CURVES[curve];
  // SLIP-0010 has only hardened children on Ed25519.
  const number = order === undefined && index < HARDENED ? index + HARDENED : index;
  const serialized = new Uint8Array(4);
  new DataView(serialized.buffer).setUint32(0, number);
  const parent = number >= HARDENED ? concat(Uint8Array.of(0), key) : publicKey(key).bytes;
  let hash = hmac(sha512, chainCode, concat(parent, serialized));
  if (order === undefined) return nodeOf(hash.subarray(0, 32), hash.subarray(32));
  for (;;) {
    const left = toNumber(hash.subarray(0, 32));
    const child = (left + toNumber(key)) % order;
    if (left < order && child !== 0n) return nodeOf(toBytes(child), hash.subarray(32));
    hash = hmac(sha512, chainCode, concat(Uint8Array.of(1), hash.subarray(32), serialized));
  }
}

const nodeOf = (key: Uint8Array, chainCode: Uint8Array): Node => ({ key: key.slice(), chainCode: chainCode.slice() });

const isKey = (bytes: Uint8Array, order: bigint): boolean => {
  const number = toNumber(bytes);
  return number > 0n && number < order;
};

const toNumber = (bytes: Uint8Array): bigint => bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);

const toBytes = (number: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, index) => Number((number >> BigInt(8 * (31 - index))) & 0xffn));

const concat = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
