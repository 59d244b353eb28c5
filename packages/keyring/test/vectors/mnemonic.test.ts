import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { describe, expect, test } from 'vitest';
import { bip32Master } from '../../src/derive/bip32.ts';
import { pbkdf2Sha512 } from '../../src/derive/hash.ts';
import type { MnemonicLanguage } from '../../src/derive/languages.ts';
import { parseMnemonic, phraseOf, seedOf, seedOfEntropy } from '../../src/derive/mnemonic.ts';
import { bytes, haveVectors, hex, readJson, readWycheproof } from './corpus.ts';
import { countVectorCases } from './count.ts';

const base58check = createBase58check((data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest()));

/** The names in the file; the last three are languages that the service does not offer. */
const LANGUAGES: Record<string, MnemonicLanguage | undefined> = {
  english: 'MNEMONIC_LANGUAGE_ENGLISH',
  chinese_simplified: 'MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE',
  chinese_traditional: 'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE',
  czech: 'MNEMONIC_LANGUAGE_CZECH',
  french: 'MNEMONIC_LANGUAGE_FRENCH',
  italian: 'MNEMONIC_LANGUAGE_ITALIAN',
  japanese: 'MNEMONIC_LANGUAGE_JAPANESE',
  korean: 'MNEMONIC_LANGUAGE_KOREAN',
  spanish: 'MNEMONIC_LANGUAGE_SPANISH',
  portuguese: undefined,
  russian: undefined,
  turkish: undefined,
};

describe.skipIf(!haveVectors)('published vectors of mnemonics', () => {
  test('bip39.json', async () => {
    const corpus = readJson<Record<string, [string, string, string, string][]>>('bip39.json');
    expect(Object.keys(corpus).sort()).toEqual(Object.keys(LANGUAGES).sort());
    let cases = 0;
    for (const [name, vectors] of Object.entries(corpus)) {
      const language = LANGUAGES[name];
      for (const [entropyText, phrase, seed, extendedKey] of vectors) {
        cases += 1;
        // The seed is computed from words of any language, also of those that cannot be read.
        const stretched = await seedOf(phrase, 'TREZOR');
        expect(hex(stretched)).toBe(seed);
        const master = bip32Master(stretched);
        const serialized = [
          0x04,
          0x88,
          0xad,
          0xe4,
          ...Array(9).fill(0),
          ...master.chainCode(),
          0,
          ...master.privateKey(),
        ];
        expect(base58check.encode(Uint8Array.from(serialized))).toBe(extendedKey);
        if (language === undefined) {
          expect(() => parseMnemonic(phrase)).toThrow('invalid mnemonic');
          continue;
        }
        const entropy = bytes(entropyText);
        expect(Buffer.from(phraseOf(entropy, language)).toString('utf8').normalize('NFC')).toBe(
          phrase.normalize('NFC'),
        );
        expect(hex(await seedOfEntropy(entropy, language, 'TREZOR'))).toBe(seed);
        const parsed = parseMnemonic(phrase);
        expect(hex(await seedOfEntropy(parsed.entropy, parsed.language, 'TREZOR'))).toBe(seed);
        // A Chinese phrase may stand in both lists.
        if (language !== 'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE') {
          expect([parsed.language, hex(parsed.entropy)]).toEqual([language, entropyText]);
        }
      }
    }
    countVectorCases(cases);
  });

  test('wycheproof/pbkdf2_hmacsha512_test.json', async () => {
    interface Pbkdf2 {
      readonly password: string;
      readonly salt: string;
      readonly iterationCount: number;
      readonly dkLen: number;
      readonly dk: string;
    }
    const cases = readWycheproof<object, Pbkdf2>('pbkdf2_hmacsha512');
    for (const {
      test: { tcId, password, salt, iterationCount, dkLen, dk, result },
    } of cases) {
      const key = await pbkdf2Sha512(bytes(password), bytes(salt), iterationCount, dkLen);
      expect([tcId, hex(key) === dk]).toEqual([tcId, result === 'valid']);
    }
    countVectorCases(cases.length);
  });
});
