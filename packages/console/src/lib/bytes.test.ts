import { describe, expect, it } from 'vitest';
import { fromBase58, fromHex, toBase58, toHex } from './bytes.ts';

describe('hex', () => {
  it('goes there and back', () => {
    expect(toHex(fromHex('0x00ff10') ?? new Uint8Array())).toBe('00ff10');
  });

  it.each(['0x0', 'zz', '0x12 34', '+1'])('refuses %s', (text) => expect(fromHex(text)).toBeUndefined());
});

describe('base58', () => {
  it.each([
    ['', ''],
    ['61', '2g'],
    ['00010966776006953d5567439e5e39f86a0d273beed61967f6', '16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvM'],
    ['0000000000000000000000000000000000000000000000000000000000000000', '11111111111111111111111111111111'],
  ])('writes %s as %s and reads it', (hex, text) => {
    expect(toBase58(fromHex(hex) ?? new Uint8Array())).toBe(text);
    expect(toHex(fromBase58(text) ?? new Uint8Array())).toBe(hex);
  });

  it.each(['0', 'O', 'l', 'I', 'a b', '1'.repeat(200)])('refuses %s', (text) =>
    expect(fromBase58(text)).toBeUndefined(),
  );
});
