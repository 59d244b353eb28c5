import { keccak256 as reference } from 'viem';
import { describe, expect, it } from 'vitest';
import { keccak256 } from './keccak.ts';

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

describe('keccak256', () => {
  it('has the digest of nothing that every Ethereum client knows', () => {
    expect(hex(keccak256(new Uint8Array()))).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  });

  it.each([1, 55, 135, 136, 137, 272, 1000])('agrees with another implementation on %i bytes', (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 0xff);
    expect(hex(keccak256(bytes))).toBe(reference(bytes));
  });
});
