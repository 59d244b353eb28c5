import { describe, expect, it } from 'vitest';
import { parseWire } from '../../../server/src/chains/solana/solana.ts';
import { solanaKey, solTransfer } from './solana.ts';

const FROM = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk';
const TO = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';

describe('solTransfer', () => {
  it('makes what the service reads as one transfer', () => {
    const { transaction } = parseWire(solTransfer(FROM, TO, 20_000_000_000n));
    expect(transaction.accountKeys).toEqual([FROM, TO, '11111111111111111111111111111111']);
    expect(transaction.recentBlockhash).toBe('11111111111111111111111111111111');
    expect(transaction.transfers).toMatchObject([{ from: FROM, to: TO, amount: 20_000_000_000n }]);
  });

  it('refuses what does not fit', () => {
    expect(() => solTransfer(FROM, 'short', 1n)).toThrow(RangeError);
    expect(() => solTransfer(FROM, TO, 2n ** 64n)).toThrow(RangeError);
    expect(solanaKey('0OIl')).toBeUndefined();
  });
});
