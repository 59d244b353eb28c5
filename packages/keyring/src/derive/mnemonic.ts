import { createHash } from 'node:crypto';
import { wordlist as czech } from '@scure/bip39/wordlists/czech.js';
import { wordlist as english } from '@scure/bip39/wordlists/english.js';
import { wordlist as french } from '@scure/bip39/wordlists/french.js';
import { wordlist as italian } from '@scure/bip39/wordlists/italian.js';
import { wordlist as japanese } from '@scure/bip39/wordlists/japanese.js';
import { wordlist as korean } from '@scure/bip39/wordlists/korean.js';
import { wordlist as simplifiedChinese } from '@scure/bip39/wordlists/simplified-chinese.js';
import { wordlist as spanish } from '@scure/bip39/wordlists/spanish.js';
import { wordlist as traditionalChinese } from '@scure/bip39/wordlists/traditional-chinese.js';
import { KeyringError } from '../errors.ts';
import { invalid } from './check.ts';
import { pbkdf2Sha512 } from './hash.ts';
import { MNEMONIC_LANGUAGES, type MnemonicLanguage } from './languages.ts';

// Phrases are made as bytes, which can be wiped. Text appears only where a person typed it.

const LISTS: Readonly<Record<MnemonicLanguage, readonly string[]>> = {
  MNEMONIC_LANGUAGE_ENGLISH: english,
  MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE: simplifiedChinese,
  MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE: traditionalChinese,
  MNEMONIC_LANGUAGE_CZECH: czech,
  MNEMONIC_LANGUAGE_FRENCH: french,
  MNEMONIC_LANGUAGE_ITALIAN: italian,
  MNEMONIC_LANGUAGE_JAPANESE: japanese,
  MNEMONIC_LANGUAGE_KOREAN: korean,
  MNEMONIC_LANGUAGE_SPANISH: spanish,
};

export interface Mnemonic {
  /** The caller wipes it. */
  readonly entropy: Uint8Array;
  readonly language: MnemonicLanguage;
}

interface WordList {
  /** UTF-8 of the words, NFKD as BIP-39 wants them. */
  readonly bytes: readonly Uint8Array[];
  readonly indices: ReadonlyMap<string, number>;
}

const WORD_BITS = 11;
const ENTROPY_BYTES = [16, 20, 24, 28, 32];
const WORD_COUNTS = [12, 15, 18, 21, 24];
const SEED_ITERATIONS = 2048;
const SEED_BYTES = 64;
const TEXT_CHARACTERS_MAX = 2000;
const SPACE = Uint8Array.of(0x20);
const IDEOGRAPHIC_SPACE = Uint8Array.of(0xe3, 0x80, 0x80);
const LONE_SURROGATE = /\p{Surrogate}/u;

const encoder = new TextEncoder();
const wordLists = new Map<MnemonicLanguage, WordList>();

/** The phrase as people read it: UTF-8, with U+3000 between Japanese words. The caller wipes it. */
export function phraseOf(entropy: Uint8Array, language: MnemonicLanguage): Uint8Array {
  return joinWords(entropy, language, language === 'MNEMONIC_LANGUAGE_JAPANESE' ? IDEOGRAPHIC_SPACE : SPACE);
}

/**
 * Reads a phrase in any of the nine languages and with any white space. A phrase whose words stand in several lists
 * (the Chinese lists share most of their characters, English and French a hundred words) belongs to the first language
 * of MNEMONIC_LANGUAGES in which its checksum holds. The seed does not depend on that choice, since it is computed from
 * the words; only the entropy does, and with it the same wallet written in a third language.
 */
export function parseMnemonic(text: string): Mnemonic {
  if (typeof text !== 'string' || text.length > TEXT_CHARACTERS_MAX) throw invalidMnemonic();
  const words = text.normalize('NFKD').trim().split(/\s+/);
  if (!WORD_COUNTS.includes(words.length)) throw invalidMnemonic();
  for (const language of MNEMONIC_LANGUAGES) {
    const entropy = entropyOf(words, wordList(language).indices);
    if (entropy !== undefined) return { entropy, language };
  }
  throw invalidMnemonic();
}

/** The seed of a phrase as text (BIP-39, from mnemonic to seed). Whether the phrase is valid is not asked. */
export async function seedOf(phrase: string, passphrase: string): Promise<Uint8Array> {
  return stretch(encodeText(phrase, 'a phrase'), passphrase);
}

/** The seed of the phrase that the entropy has in a language, without the phrase ever being a string. */
export async function seedOfEntropy(
  entropy: Uint8Array,
  language: MnemonicLanguage,
  passphrase: string,
): Promise<Uint8Array> {
  return stretch(joinWords(entropy, language, SPACE), passphrase);
}

/** PBKDF2 of BIP-39 over bytes in NFKD, which it wipes. */
async function stretch(phrase: Uint8Array, passphrase: string): Promise<Uint8Array> {
  let salt: Uint8Array | undefined;
  try {
    if (typeof passphrase !== 'string') throw invalid('a passphrase must be text');
    salt = encodeText(`mnemonic${passphrase}`, 'a passphrase');
    return await pbkdf2Sha512(phrase, salt, SEED_ITERATIONS, SEED_BYTES);
  } finally {
    phrase.fill(0);
    salt?.fill(0);
  }
}

/** A string with a lone surrogate has no UTF-8 form of its own, and two of them would share one seed. */
function encodeText(text: string, name: string): Uint8Array {
  if (typeof text !== 'string' || LONE_SURROGATE.test(text)) throw invalid(`${name} must be well-formed text`);
  return encoder.encode(text.normalize('NFKD'));
}

/** BIP-39, generating the mnemonic: entropy and checksum in groups of 11 bits. */
function joinWords(entropy: Uint8Array, language: MnemonicLanguage, separator: Uint8Array): Uint8Array {
  if (!(entropy instanceof Uint8Array) || !ENTROPY_BYTES.includes(entropy.length)) {
    throw invalid('the entropy of a mnemonic has 16, 20, 24, 28 or 32 bytes');
  }
  const { bytes } = wordList(language);
  const bits = new Uint8Array(entropy.length + 1);
  bits.set(entropy);
  bits[entropy.length] = checksumByte(entropy);
  const count = (entropy.length * 3) / 4;
  const words: Uint8Array[] = [];
  let length = separator.length * (count - 1);
  for (let position = 0; position < count; position += 1) {
    const word = bytes[readBits(bits, position * WORD_BITS)] as Uint8Array;
    words.push(word);
    length += word.length;
  }
  bits.fill(0);
  const phrase = new Uint8Array(length);
  let offset = 0;
  for (const word of words) {
    if (offset > 0) {
      phrase.set(separator, offset);
      offset += separator.length;
    }
    phrase.set(word, offset);
    offset += word.length;
  }
  words.length = 0;
  return phrase;
}

function entropyOf(words: readonly string[], indices: ReadonlyMap<string, number>): Uint8Array | undefined {
  const bits = new Uint8Array(Math.ceil((words.length * WORD_BITS) / 8) + 2);
  try {
    for (const [position, word] of words.entries()) {
      const index = indices.get(word);
      if (index === undefined) return undefined;
      writeBits(bits, position * WORD_BITS, index);
    }
    const entropy = bits.slice(0, (words.length * 4) / 3);
    if (checksumByte(entropy) === bits[entropy.length]) return entropy;
    entropy.fill(0);
    return undefined;
  } finally {
    bits.fill(0);
  }
}

/** The first bits of SHA-256, one for each four bytes of entropy, at the top of a byte. */
function checksumByte(entropy: Uint8Array): number {
  const hash = createHash('sha256').update(entropy).digest();
  const checksum = (hash[0] as number) & (0xff00 >>> (entropy.length / 4));
  hash.fill(0);
  return checksum;
}

function readBits(bytes: Uint8Array, start: number): number {
  const byte = start >>> 3;
  const three = ((bytes[byte] as number) << 16) | ((bytes[byte + 1] ?? 0) << 8) | (bytes[byte + 2] ?? 0);
  return (three >>> (24 - WORD_BITS - (start & 7))) & 0x7ff;
}

function writeBits(bytes: Uint8Array, start: number, value: number): void {
  const three = value << (24 - WORD_BITS - (start & 7));
  for (let byte = 0; byte < 3; byte += 1) {
    const offset = (start >>> 3) + byte;
    bytes[offset] = (bytes[offset] as number) | ((three >>> (16 - 8 * byte)) & 0xff);
  }
}

function wordList(language: MnemonicLanguage): WordList {
  const known = wordLists.get(language);
  if (known !== undefined) return known;
  if (!Object.hasOwn(LISTS, language)) throw invalid('unknown mnemonic language');
  const words = LISTS[language].map((word) => word.normalize('NFKD'));
  const list = {
    bytes: words.map((word) => encoder.encode(word)),
    indices: new Map(words.map((word, index) => [word, index])),
  };
  wordLists.set(language, list);
  return list;
}

function invalidMnemonic(): Error {
  return new KeyringError('INVALID_MNEMONIC', 'invalid mnemonic');
}
