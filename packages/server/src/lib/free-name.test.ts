import { describe, expect, test } from 'vitest';
import { freeName } from './free-name.ts';
import { LIMITS } from './limits.ts';

const free = (wanted: string, ...taken: string[]): string => freeName(wanted, new Set(taken));

describe('freeName', () => {
  test('a name that nobody has stays as it is', () => {
    expect(free('Phone')).toBe('Phone');
    expect(free('Phone', 'phone', 'Phone (2)')).toBe('Phone');
  });

  test('the lowest free number is taken', () => {
    expect(free('Phone', 'Phone')).toBe('Phone (2)');
    expect(free('Phone', 'Phone', 'Phone (2)', 'Phone (4)')).toBe('Phone (3)');
    expect(free('Phone (2)', 'Phone (2)')).toBe('Phone (2) (2)');
  });

  test('a long name is cut by code points, and not in the middle of one', () => {
    const long = '🔑'.repeat(LIMITS.nameLength);
    expect([...free(long, long)]).toHaveLength(LIMITS.nameLength);
    expect(free(long, long)).toMatch(/^(?:🔑){251} \(2\)$/u);
    const spaced = `${'a'.repeat(250)}     `;
    expect(free(spaced, spaced)).toBe(`${'a'.repeat(250)} (2)`);
  });

  test('numbers grow into the room of the name', () => {
    const long = 'a'.repeat(LIMITS.nameLength);
    const taken = new Set<string>();
    for (let index = 0; index < 120; index += 1) taken.add(freeName(long, taken));
    expect(taken.size).toBe(120);
    for (const name of taken) expect(name.length).toBe(LIMITS.nameLength);
  });
});
