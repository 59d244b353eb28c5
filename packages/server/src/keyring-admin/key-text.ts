import { base58 } from '@scure/base';
import { networkNamed } from '../chains/networks.ts';
import type { ChainSettings } from '../chains/settings.ts';
import { StartError } from '../lib/start-error.ts';

const KEY_BYTES = 32;
/** What programs for Solana call a secret key: the seed, and the public key behind it. */
const PAIR_BYTES = 64;
const HEX_DIGITS = 2 * KEY_BYTES;
const SPACES: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));
const ZERO = 0x30;
const UPPER_X = 0x58;
const LOWER_X = 0x78;
const BASE58_LENGTH_MAX = 88;

export interface KeyMaterial {
  /** 32 bytes; on Solana the seed. The caller wipes it. */
  readonly privateKey: Uint8Array;
  /** Hexadecimal, where the text held it too. */
  readonly publicKey: string | undefined;
}

/** A private key as people keep it. Refusals say nothing of the text. */
export function parseKeyText(namespace: ChainSettings['namespace'], text: Uint8Array): KeyMaterial {
  const { expected, mayBeBase58 } = networkNamed(namespace).operatorKeyText;
  const trimmed = trim(text);
  const isPrefixed = trimmed[0] === ZERO && (trimmed[1] === LOWER_X || trimmed[1] === UPPER_X);
  const digits = isPrefixed ? trimmed.subarray(2) : trimmed;
  const material = parseHex(digits) ?? (mayBeBase58 ? parseBase58(trimmed) : undefined);
  if (material !== undefined) return material;
  throw new StartError(`what was given on standard input is no private key: it must be ${expected}`);
}

function trim(text: Uint8Array): Uint8Array {
  let [start, end] = [0, text.length];
  while (start < end && SPACES.has(text[start] ?? 0)) start += 1;
  while (end > start && SPACES.has(text[end - 1] ?? 0)) end -= 1;
  return text.subarray(start, end);
}

/** Byte by byte, so that no copy is left as text, which cannot be wiped. */
function parseHex(digits: Uint8Array): KeyMaterial | undefined {
  if (digits.length !== HEX_DIGITS) return undefined;
  const privateKey = new Uint8Array(KEY_BYTES);
  for (const [index, digit] of digits.entries()) {
    const value = hexValue(digit);
    if (value === undefined) {
      privateKey.fill(0);
      return undefined;
    }
    privateKey[index >> 1] = ((privateKey[index >> 1] ?? 0) << 4) | value;
  }
  return { privateKey, publicKey: undefined };
}

function hexValue(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}

function parseBase58(text: Uint8Array): KeyMaterial | undefined {
  if (text.length > BASE58_LENGTH_MAX) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1'));
  } catch {
    return undefined;
  }
  const isPair = bytes.length === PAIR_BYTES;
  const privateKey = isPair || bytes.length === KEY_BYTES ? bytes.slice(0, KEY_BYTES) : undefined;
  const publicKey = isPair ? Buffer.from(bytes.subarray(KEY_BYTES)).toString('hex') : undefined;
  bytes.fill(0);
  return privateKey && { privateKey, publicKey };
}
