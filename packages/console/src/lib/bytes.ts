export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Undefined for what is not hex; `0x` may stand before it. */
export function fromHex(text: string): Uint8Array | undefined {
  const digits = text.startsWith('0x') || text.startsWith('0X') ? text.slice(2) : text;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Longer texts are no key or address, and the time grows with the square. */
const BASE58_MAX = 128;

export function toBase58(bytes: Uint8Array): string {
  let number = bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`);
  let text = '';
  while (number > 0n) {
    text = ALPHABET.charAt(Number(number % 58n)) + text;
    number /= 58n;
  }
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = `1${text}`;
  }
  return text;
}

/** Undefined for what is not base58. */
export function fromBase58(text: string): Uint8Array | undefined {
  if (text.length > BASE58_MAX) return undefined;
  let number = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    number = number * 58n + BigInt(digit);
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const digits = number === 0n ? '' : number.toString(16);
  const rest = fromHex(digits.length % 2 === 0 ? digits : `0${digits}`) ?? new Uint8Array();
  return Uint8Array.of(...new Uint8Array(zeros), ...rest);
}
