import { describe, expect, it } from 'vitest';
import type { Place } from '../../api/chains.ts';
import { transferData } from '../../lib/evm.ts';
import { type Asset, checkAmount, checkRecipient, sendWish } from './send-form-model.ts';

const TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const USDC: Asset = {
  caip19: `eip155:1/erc20:${TOKEN}`,
  symbol: 'USDC',
  decimals: 6,
  isNative: false,
  balance: 248_120_550_000n,
};
const ETH: Asset = { caip19: 'eip155:1/slip44:60', symbol: 'ETH', decimals: 18, isNative: true, balance: undefined };
const PLACE = {
  account: { address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' },
  chain: { caip2: 'eip155:1' },
} as Place;

describe('a recipient', () => {
  it.each([TO, TO.toLowerCase(), ` ${TO} `, '0x5aAe b605 3F3E 94C9 b9A0 9f33 6694 35E7 Ef1B eAed'])(
    'is taken as %s',
    (text) => {
      expect(checkRecipient(text, 'eip155:1')).toEqual({ address: TO });
    },
  );

  it.each([
    [TO.replace('a', 'A'), 'capitals'],
    [TO.slice(0, -1), '39 digits'],
    ['TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', 'begins with 0x'],
    ['0xZZ', '“Z” is no hex digit'],
    [`0x${'0'.repeat(40)}`, 'zero address'],
  ])('%s is refused in words', (text, reason) => {
    expect(checkRecipient(text, 'eip155:1')).toEqual({ error: expect.stringContaining(reason) });
  });

  it('of Solana is base58 of 32 bytes', () => {
    const address = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
    expect(checkRecipient(address, 'solana:x')).toEqual({ address });
    expect(checkRecipient(TO, 'solana:x')).toEqual({ error: expect.stringContaining('0x') });
    expect(checkRecipient('', 'solana:x')).toBeUndefined();
  });
});

describe('an amount', () => {
  it.each([
    ['4,000', 4_000_000_000n],
    ['4000.5', 4_000_500_000n],
    ['0.000001', 1n],
    ['248,120.55', 248_120_550_000n],
  ])('%s is exact', (text, value) => expect(checkAmount(text, USDC)).toEqual({ value }));

  it('of 18 decimals loses nothing', () => {
    expect(checkAmount('18.402117000000000001', ETH)).toEqual({ value: 18_402_117_000_000_000_001n });
  });

  it.each([
    ['0.0000001', '6 decimals; there are 7'],
    ['248,120.550001', 'has 248,120.55 USDC'],
    ['0', 'more than zero'],
    ['1e3', 'no amount'],
    ['-1', 'no amount'],
    ['1.234,50', 'point before the decimals'],
    ['1,5', 'between thousands'],
  ])('%s is refused in words', (text, reason) => {
    expect(checkAmount(text, USDC)).toEqual({ error: expect.stringContaining(reason) });
  });
});

describe('the request', () => {
  it('calls transfer of a token', () => {
    expect(sendWish(PLACE, USDC, TO, 4_000_000_000n)?.parameters).toEqual({
      from: PLACE.account.address,
      caip2: 'eip155:1',
      calls: [{ to: TOKEN, data: transferData(TO, 4_000_000_000n) }],
    });
  });

  it('sends the value of the native asset', () => {
    expect(sendWish(PLACE, ETH, TO, 1n)?.parameters).toMatchObject({ calls: [{ to: TO, value: '1' }] });
  });

  it('is none where no chain is configured', () => {
    expect(sendWish({ ...PLACE, chain: undefined }, ETH, TO, 1n)).toBeUndefined();
  });
});
