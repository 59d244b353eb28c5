import { describe, expect, test } from 'vitest';
import {
  signSchnorr,
  signTaproot,
  taprootPrivateKey,
  taprootPublicKey,
  taprootTweak,
  verifySchnorr,
  xOnlyPublicKey,
} from '../../src/sign/secp256k1.ts';
import { bytes, haveVectors, hex, readCorpus, readJson } from './corpus.ts';
import { countVectorCases } from './count.ts';

/** Cases of bip340.csv that are answered otherwise than the file says. */
const DIFFERENT: Record<string, string> = {
  15: 'a message of 0 bytes: only digests of 32 bytes are signed',
  16: 'a message of 1 byte: only digests of 32 bytes are signed',
  17: 'a message of 17 bytes: only digests of 32 bytes are signed',
  18: 'a message of 100 bytes: only digests of 32 bytes are signed',
};

interface TaprootVectors {
  readonly scriptPubKey: readonly {
    readonly given: { readonly internalPubkey: string };
    readonly intermediary: {
      readonly merkleRoot: string | null;
      readonly tweak: string;
      readonly tweakedPubkey: string;
    };
  }[];
  readonly keyPathSpending: readonly {
    readonly inputSpending: readonly {
      readonly given: {
        readonly internalPrivkey: string;
        readonly merkleRoot: string | null;
        readonly hashType: number;
      };
      readonly intermediary: {
        readonly internalPubkey: string;
        readonly tweak: string;
        readonly tweakedPrivkey: string;
        readonly sigHash: string;
      };
      readonly expected: { readonly witness: readonly [string] };
    }[];
  }[];
}

const rootOf = (text: string | null): Uint8Array | undefined => (text === null ? undefined : bytes(text));

describe.skipIf(!haveVectors)('published vectors of Schnorr signatures', () => {
  test('bip340.csv', () => {
    const [header, ...lines] = readCorpus('bip340.csv').trim().split(/\r?\n/);
    expect(header).toMatch(/^index,secret key,public key,aux_rand,message,signature,verification result/);
    const different: string[] = [];
    for (const line of lines) {
      const [index, secret, point, auxiliary, message, signature, result] = line.split(',') as string[];
      const valid = verifySchnorr(bytes(message!), bytes(point!), bytes(signature!));
      let made = signature!.toLowerCase();
      if (secret) {
        expect(hex(xOnlyPublicKey(bytes(secret)))).toBe(point!.toLowerCase());
        try {
          made = hex(signSchnorr(bytes(message!), bytes(secret), bytes(auxiliary!)));
        } catch (error) {
          made = String(error);
        }
      }
      if (valid !== (result === 'TRUE') || made !== signature!.toLowerCase()) different.push(index!);
    }
    expect(different).toEqual(Object.keys(DIFFERENT));
    countVectorCases(lines.length);
  });

  test('bip341-wallet.json', () => {
    const vectors = readJson<TaprootVectors>('bip341-wallet.json');
    for (const { given, intermediary } of vectors.scriptPubKey) {
      const root = rootOf(intermediary.merkleRoot);
      expect(hex(taprootTweak(bytes(given.internalPubkey), root))).toBe(intermediary.tweak);
      expect(hex(taprootPublicKey(bytes(given.internalPubkey), root).xOnly)).toBe(intermediary.tweakedPubkey);
    }
    const inputs = vectors.keyPathSpending.flatMap(({ inputSpending }) => inputSpending);
    for (const { given, intermediary, expected } of inputs) {
      const key = bytes(given.internalPrivkey);
      const root = rootOf(given.merkleRoot);
      expect(hex(xOnlyPublicKey(key))).toBe(intermediary.internalPubkey);
      expect(hex(taprootTweak(xOnlyPublicKey(key), root))).toBe(intermediary.tweak);
      expect(hex(taprootPrivateKey(key, root))).toBe(intermediary.tweakedPrivkey);
      const options = { auxiliary: new Uint8Array(32), ...(root === undefined ? {} : { merkleRoot: root }) };
      const signature = hex(signTaproot(bytes(intermediary.sigHash), key, options));
      // The type of the hash follows unless it is the default.
      const suffix = given.hashType === 0 ? '' : given.hashType.toString(16).padStart(2, '0');
      expect(`${signature}${suffix}`).toBe(expected.witness[0]);
    }
    expect([vectors.scriptPubKey.length, inputs.length]).toEqual([7, 7]);
    countVectorCases(vectors.scriptPubKey.length + inputs.length);
  });
});
