import { type Bytes, sha256 } from './bytes.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_BYTES = 4;

/** Base58 with four bytes of a double SHA-256 at its end; undefined when it is not that. */
export async function fromBase58Check(text: string): Promise<Bytes | undefined> {
  const bytes = fromBase58(text);
  if (bytes === undefined || bytes.length < CHECKSUM_BYTES) return undefined;
  const payload = bytes.slice(0, -CHECKSUM_BYTES);
  const expected = (await sha256(await sha256(payload))).subarray(0, CHECKSUM_BYTES);
  return expected.every((byte, index) => byte === bytes[payload.length + index]) ? payload : undefined;
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
