import { randomBytes } from 'node:crypto';
import { entropyToMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist as englishWords } from '@scure/bip39/wordlists/english.js';
import { wordlist as frenchWords } from '@scure/bip39/wordlists/french.js';
import { wordlist as simplifiedWords } from '@scure/bip39/wordlists/simplified-chinese.js';
import { wordlist as traditionalWords } from '@scure/bip39/wordlists/traditional-chinese.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyringError } from '../errors.ts';
import { MNEMONIC_LANGUAGES, type MnemonicLanguage } from './languages.ts';
import { parseMnemonic, phraseOf, seedOf, seedOfEntropy } from './mnemonic.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const language = fc.constantFrom(...MNEMONIC_LANGUAGES);
const entropy = fc
  .constantFrom(16, 20, 24, 28, 32)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));

function refusal(phrase: unknown): string {
  try {
    parseMnemonic(phrase as string);
  } catch (error) {
    if (error instanceof KeyringError && (error.code === 'INVALID_MNEMONIC' || error.code === 'INVALID_INPUT'))
      return error.message;
    throw error;
  }
  throw new Error('the phrase was accepted');
}

// The first and the last word of 16 zero bytes, and the start of the seed of that phrase without a passphrase.
const ZEROS: Record<MnemonicLanguage, readonly [string, string, string]> = {
  MNEMONIC_LANGUAGE_ENGLISH: ['abandon', 'about', '5eb00bbddcf06908'],
  MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE: ['的', '在', 'c015b86e4b208402'],
  MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE: ['的', '在', 'c015b86e4b208402'],
  MNEMONIC_LANGUAGE_CZECH: ['abdikace', 'agrese', 'c1e6342228919bb2'],
  MNEMONIC_LANGUAGE_FRENCH: ['abaisser', 'abeille', '01051dcfa9e1695c'],
  MNEMONIC_LANGUAGE_ITALIAN: ['abaco', 'abete', '9c010f0a2aeb286c'],
  MNEMONIC_LANGUAGE_JAPANESE: ['あいこくしん', 'あおぞら', '646f1a38134c556e'],
  MNEMONIC_LANGUAGE_KOREAN: ['가격', '가능', '746d3a64d624fdc4'],
  MNEMONIC_LANGUAGE_SPANISH: ['ábaco', 'abierto', 'fdfe9b7c7a5e5079'],
};

describe('phrases', () => {
  test('nine languages', () => {
    expect([...MNEMONIC_LANGUAGES]).toEqual(Object.keys(ZEROS));
  });

  test.each(Object.entries(ZEROS))('16 zero bytes in %s', async (name, [first, last, seed]) => {
    const known = name as MnemonicLanguage;
    const separator = known === 'MNEMONIC_LANGUAGE_JAPANESE' ? '\u3000' : ' ';
    const expected = [...Array(11).fill(first), last].map((word) => word.normalize('NFKD')).join(separator);
    expect(text(phraseOf(new Uint8Array(16), known))).toBe(expected);
    expect(hex(await seedOf(expected, '')).slice(0, 16)).toBe(seed);
    expect(hex(await seedOf(expected.normalize('NFC'), '')).slice(0, 16)).toBe(seed);
    expect(hex(await seedOfEntropy(new Uint8Array(16), known, '')).slice(0, 16)).toBe(seed);
  });

  test('every length of entropy comes back from its phrase, in every language', () => {
    fc.assert(
      fc.property(entropy, language, (bytes, chosen) => {
        const phrase = text(phraseOf(bytes, chosen));
        expect(phrase.split(/[ \u3000]/)).toHaveLength((bytes.length * 3) / 4);
        const parsed = parseMnemonic(phrase);
        // Words that stand in two lists may be read in the other language, never as another phrase.
        if (parsed.language === chosen) expect(hex(parsed.entropy)).toBe(hex(bytes));
        expect(text(phraseOf(parsed.entropy, parsed.language))).toBe(phrase);
      }),
      { numRuns: 300 },
    );
  });

  test('another implementation writes the same English phrases', () => {
    fc.assert(
      fc.property(entropy, (bytes) => {
        expect(text(phraseOf(bytes, 'MNEMONIC_LANGUAGE_ENGLISH'))).toBe(entropyToMnemonic(bytes, englishWords));
      }),
    );
  });

  test.each([0, 4, 12, 15, 17, 36, 64])('%i bytes are no entropy', (length) => {
    expect(() => phraseOf(new Uint8Array(length), 'MNEMONIC_LANGUAGE_ENGLISH')).toThrow(KeyringError);
  });

  test.each(['', 'ENGLISH', 'MNEMONIC_LANGUAGE_PORTUGUESE', 'constructor', undefined])('%j is no language', (name) => {
    expect(() => phraseOf(new Uint8Array(16), name as MnemonicLanguage)).toThrow(KeyringError);
  });

  test('the entropy of the caller is left alone', () => {
    const bytes = new Uint8Array(16).fill(9);
    phraseOf(bytes, 'MNEMONIC_LANGUAGE_ENGLISH');
    expect(bytes.every((byte) => byte === 9)).toBe(true);
  });
});

describe('parseMnemonic', () => {
  const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

  test('white space does not matter', () => {
    const spaced = [
      ` ${phrase}\n`,
      phrase.replaceAll(' ', '  '),
      phrase.replaceAll(' ', '\n'),
      phrase.replace(' ', '\t'),
    ];
    for (const variant of [...spaced, phrase.replaceAll(' ', '\u3000'), phrase.replaceAll(' ', '\u00a0')]) {
      expect(hex(parseMnemonic(variant).entropy)).toBe('7f'.repeat(16));
    }
  });

  test('composed and decomposed letters are the same', () => {
    const zeros = new Uint8Array(16);
    for (const name of [
      'MNEMONIC_LANGUAGE_JAPANESE',
      'MNEMONIC_LANGUAGE_KOREAN',
      'MNEMONIC_LANGUAGE_SPANISH',
    ] as const) {
      const written = text(phraseOf(zeros, name));
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) {
        expect(parseMnemonic(written.normalize(form))).toEqual({ entropy: zeros, language: name });
      }
    }
  });

  test.each([
    ['a wrong checksum', phrase.replace('yellow', 'year')],
    ['a word of no list', phrase.replace('yellow', 'custos')],
    ['capital letters', phrase.toUpperCase()],
    ['eleven words', phrase.replace(' yellow', '')],
    ['thirteen words', `${phrase} zoo`],
    ['a word of another language', phrase.replace('yellow', 'abeille')],
    ['nothing', ''],
    ['white space', ' \n '],
    ['a name of every object', Array(12).fill('constructor').join(' ')],
    ['commas', phrase.replaceAll(' ', ', ')],
    ['a long text', `${phrase}${' '.repeat(10_000)}`],
    ['no text', undefined],
    ['bytes', Buffer.from(phrase)],
  ])('refuses %s', (_name, input) => {
    expect(refusal(input)).toBe('invalid mnemonic');
  });

  test('a changed word is almost always noticed, and never read as the same phrase', () => {
    let accepted = 0;
    for (let round = 0; round < 1000; round += 1) {
      const words = text(phraseOf(randomBytes(32), 'MNEMONIC_LANGUAGE_ENGLISH')).split(' ');
      words[round % 24] = englishWords[round] as string;
      try {
        expect(text(phraseOf(parseMnemonic(words.join(' ')).entropy, 'MNEMONIC_LANGUAGE_ENGLISH'))).toBe(
          words.join(' '),
        );
        accepted += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(KeyringError);
      }
    }
    expect(accepted).toBeLessThan(30);
  });

  test('a phrase of two lists is read in the first that fits, and its seed is that of its words', async () => {
    // Characters of both Chinese lists stand at the same or at another place in them.
    const shared = simplifiedWords.filter((word) => traditionalWords.includes(word));
    let found = 0;
    for (let round = 0; found < 3; round += 1) {
      const words = Array.from({ length: 12 }, (_, index) => shared[(round * 7919 + index * 104_729) % shared.length]!);
      const written = words.join(' ');
      let parsed: ReturnType<typeof parseMnemonic>;
      try {
        parsed = parseMnemonic(written);
      } catch {
        continue;
      }
      found += 1;
      expect(parsed.language).toMatch(/CHINESE$/);
      expect(text(phraseOf(parsed.entropy, parsed.language))).toBe(written);
      expect(hex(await seedOfEntropy(parsed.entropy, parsed.language, 'x'))).toBe(
        hex(mnemonicToSeedSync(written, 'x')),
      );
    }
    const zeros = text(phraseOf(new Uint8Array(16), 'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE'));
    expect(parseMnemonic(zeros).language).toBe('MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE');
  });

  test('only the Chinese lists, and English with French, share words', () => {
    expect(simplifiedWords.filter((word) => traditionalWords.includes(word))).toHaveLength(1275);
    expect(englishWords.filter((word) => frenchWords.includes(word))).toHaveLength(100);
  });
});

describe('seeds', () => {
  const zeros = text(phraseOf(new Uint8Array(16), 'MNEMONIC_LANGUAGE_ENGLISH'));

  test('the first vector of BIP-39', async () => {
    const expected =
      'c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04';
    expect(hex(await seedOf(zeros, 'TREZOR'))).toBe(expected);
    expect(hex(await seedOfEntropy(new Uint8Array(16), 'MNEMONIC_LANGUAGE_ENGLISH', 'TREZOR'))).toBe(expected);
  });

  test('another implementation has the same seeds', async () => {
    const passphrase = fc.string({ unit: 'grapheme', maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(entropy, language, passphrase, async (bytes, chosen, extra) => {
        const phrase = text(phraseOf(bytes, chosen));
        const expected = hex(mnemonicToSeedSync(phrase, extra));
        expect(hex(await seedOf(phrase, extra))).toBe(expected);
        expect(hex(await seedOfEntropy(bytes, chosen, extra))).toBe(expected);
      }),
      { numRuns: 15 },
    );
  });

  test('passphrases are normalised', async () => {
    expect(hex(await seedOf(zeros, '\u00e9'))).toBe(hex(await seedOf(zeros, 'e\u0301')));
    expect(hex(await seedOf(zeros, 'e'))).not.toBe(hex(await seedOf(zeros, 'e\u0301')));
  });

  test.each([['\ud800'], [undefined], [7], [null]])('%j is neither phrase nor passphrase', async (value) => {
    await expect(seedOf(zeros, value as string)).rejects.toThrow(KeyringError);
    await expect(seedOf(value as string, '')).rejects.toThrow(KeyringError);
  });
});
