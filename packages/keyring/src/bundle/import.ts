import type { Curve } from '../curve.ts';
import { isPrivateKeyOf } from '../derive/public-key.ts';
import { KeyringError } from '../errors.ts';
import { parseUtf8 } from './encoding.ts';

const KEY_BYTES = 32;
/** 24 words of any list are far below, in bytes of NFKD as in characters. */
const MNEMONIC_LENGTH_MAX = 2048;
const PASSPHRASE_BYTES_MAX = 4096;
/** What the import frame writes before the passphrase. */
const FRAME_SEPARATOR = '\n--PASS--\n';
/** What an export has before the passphrase. */
const EXPORT_SEPARATOR = '\n';

export interface ImportedWallet {
  /** NFKD with single spaces. Whether it is a mnemonic of some list is not looked at here. */
  readonly mnemonic: string;
  /** As it was given, empty when there is none. */
  readonly passphrase: string;
  /**
   * All lines as one phrase, when the passphrase came behind a bare newline. If this is a mnemonic as well, somebody
   * may have broken a long one into lines, whose first line is by chance a mnemonic: such an import is ambiguous.
   */
  readonly wholePhrase?: string;
}

/** The plaintext of a wallet import, in the form of the import frame or in that of an export. */
export function parseWalletPlaintext(plaintext: Uint8Array): ImportedWallet {
  if (plaintext.length > MNEMONIC_LENGTH_MAX + FRAME_SEPARATOR.length + PASSPHRASE_BYTES_MAX) {
    throw new KeyringError('INVALID_BUNDLE', 'invalid mnemonic: the plaintext is too long');
  }
  const text = textOf(plaintext);
  const framed = splitOnce(text, FRAME_SEPARATOR);
  const [words, passphrase] = framed ?? splitOnce(text, EXPORT_SEPARATOR) ?? [text, ''];
  const mnemonic = phraseOf(words);
  if (mnemonic === '' || mnemonic.length > MNEMONIC_LENGTH_MAX) {
    throw new KeyringError('INVALID_MNEMONIC', 'invalid mnemonic: empty or too long');
  }
  if (framed !== undefined || passphrase === '') return { mnemonic, passphrase };
  return { mnemonic, passphrase, wholePhrase: phraseOf(text) };
}

/** The plaintext of a private-key import, checked to be a key of the curve. */
export function parseKeyPlaintext(plaintext: Uint8Array, curve: Curve): Uint8Array {
  if (plaintext.length !== KEY_BYTES) {
    throw new KeyringError('INVALID_BUNDLE', `an imported key must be of ${KEY_BYTES} bytes`);
  }
  if (!isPrivateKeyOf(curve, plaintext)) {
    throw new KeyringError('INVALID_KEY', `the imported key is not a private key of ${curve}`);
  }
  return plaintext;
}

function textOf(plaintext: Uint8Array): string {
  try {
    return parseUtf8(plaintext, 'the plaintext');
  } catch {
    throw new KeyringError('INVALID_BUNDLE', 'invalid mnemonic: the plaintext is not UTF-8');
  }
}

function splitOnce(text: string, separator: string): [string, string] | undefined {
  const at = text.indexOf(separator);
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at + separator.length)];
}

function phraseOf(text: string): string {
  return text.normalize('NFKD').trim().split(/\s+/u).join(' ');
}
