import { type Bytes, concat, sha256 } from './bytes.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_BYTES = 4;

const checksumOf = async (payload: Bytes): Promise<Bytes> =>
  (await sha256(await sha256(payload))).subarray(0, CHECKSUM_BYTES);

/** Base58 with four bytes of a double SHA-256 at its end. */
export async function toBase58Check(payload: Bytes): Promise<string> {
  return toBase58(concat(payload, await checksumOf(payload)));
}

/** What it was made of; undefined when it is not that. */
export async function fromBase58Check(text: string): Promise<Bytes | undefined> {
  const bytes = fromBase58(text);
  if (bytes === undefined || bytes.length < CHECKSUM_BYTES) return undefined;
  const payload = bytes.slice(0, -CHECKSUM_BYTES);
  const expected = await checksumOf(payload);
  return expected.every((byte, index) => byte === bytes[payload.length + index]) ? payload : undefined;
}

function toBase58(bytes: Bytes): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let digits = '';
  for (let rest = value; rest > 0n; rest /= 58n) digits = ALPHABET.charAt(Number(rest % 58n)) + digits;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + digits;
}

function fromBase58(text: string): Bytes | undefined {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit === -1) return undefined;
    value = value * 58n + BigInt(digit);
  }
  // Every leading 1 is a byte of zero.
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const digits: number[] = [];
  for (let rest = value; rest > 0n; rest >>= 8n) digits.unshift(Number(rest & 0xffn));
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...digits]);
}
