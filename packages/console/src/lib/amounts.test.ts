import { describe, expect, it } from 'vitest';
import { count, cutDecimals, formatBytes, formatUnits, isUnlimited, parseUnits, withThousands } from './amounts.ts';

describe('amounts', () => {
  it('are exact, with thousands and without idle zeros', () => {
    expect(formatUnits(500000000000000001n, 18)).toBe('0.500000000000000001');
    expect(formatUnits(12_500_000_000n, 6)).toBe('12,500');
    expect(formatUnits(248_120_550_000n, 6)).toBe('248,120.55');
    expect(formatUnits(-1n, 2)).toBe('-0.01');
    expect(formatUnits(7n, 0)).toBe('7');
  });

  it('are cut in lists, never rounded', () => {
    expect(cutDecimals('0.500000000000000001')).toBe('0.5…');
    expect(cutDecimals('0.9999999')).toBe('0.999999…');
    expect(cutDecimals('18.402117')).toBe('18.402117');
    expect(cutDecimals('0.000000000000000001')).toBe('0.0…');
    expect(cutDecimals('12')).toBe('12');
    expect(cutDecimals('1.500')).toBe('1.5');
  });

  it('know what contracts take for unlimited', () => {
    expect(isUnlimited(2n ** 256n - 1n)).toBe(true);
    expect(isUnlimited(2n ** 160n - 1n)).toBe(true);
    expect(isUnlimited(2n ** 128n - 1n)).toBe(false);
  });

  it('come back from what people type', () => {
    expect(parseUnits('4,000', 6)).toBe(4_000_000_000n);
    expect(parseUnits(' 0.5 ', 18)).toBe(500000000000000000n);
    expect(parseUnits('1.', 2)).toBe(100n);
    expect(parseUnits('0.0000001', 6)).toBeUndefined();
    expect(parseUnits('-1', 6)).toBeUndefined();
    expect(parseUnits('1e5', 6)).toBeUndefined();
    expect(parseUnits('', 6)).toBeUndefined();
  });

  it('leave text that is no number alone', () => {
    expect(withThousands('unlimited')).toBe('unlimited');
    expect(withThousands('1234567.8901')).toBe('1,234,567.8901');
  });

  it('count things and bytes', () => {
    expect(count(1, 'delivery', 'deliveries')).toBe('1 delivery');
    expect(count(1234, 'user')).toBe('1,234 users');
    expect(formatBytes(1)).toBe('1 byte');
    expect(formatBytes(4182)).toBe('4.2 kB');
    expect(formatBytes(76_000_000_000)).toBe('76 GB');
  });
});
