import { describe, expect, it } from 'vitest';
import { differingGroups, groupAddress, linesOf, shortAddress, shortHash } from './addresses.ts';

const PAID = '0x7A9c31E0b2D54fF6a8C3d9017E5B6c2A48d841Fe';
const ALIKE = '0x7A9c31E007f122Abc94d550a61Ee903b48d841Fe';

describe('addresses', () => {
  it('fall into groups of four on two equal lines', () => {
    const { prefix, groups } = groupAddress(PAID);
    expect(prefix).toBe('0x');
    expect(linesOf(groups)).toEqual([
      ['7A9c', '31E0', 'b2D5', '4fF6', 'a8C3'],
      ['d901', '7E5B', '6c2A', '48d8', '41Fe'],
    ]);
    expect(groupAddress('bc1p4k').groups).toEqual(['bc1p', '4k']);
  });

  it('are short in lists', () => {
    expect(shortAddress(PAID)).toBe('0x7A9c31…d841Fe');
    expect(shortAddress('7Ks4pQaaaaaaaaaaaaaaaa9tBz3R')).toBe('7Ks4pQ…9tBz3R');
    expect(shortAddress('0x1234')).toBe('0x1234');
  });

  it('show where a look-alike differs', () => {
    expect(differingGroups(ALIKE, PAID)).toEqual([false, false, true, true, true, true, true, true, false, false]);
    expect(differingGroups(PAID.toLowerCase(), PAID).some(Boolean)).toBe(false);
  });

  it('shorten ids and digests', () => {
    expect(shortHash('01a1dd92-9107-7567-a6d5-2a8bc543f9b6')).toBe('01a1dd…43f9b6');
    expect(shortHash('sha256:9f3c000000000000000000000000e1b0')).toBe('sha256:9f3c00…00e1b0');
  });
});
