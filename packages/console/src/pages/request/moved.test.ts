import { describe, expect, test } from 'vitest';
import type { Description } from '../../api/types.ts';
import { amountsOf, limitsFor, type Moved, movedBy, readAmount } from './moved.ts';

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const TOKEN = `eip155:1/erc20:${USDC}`;
const COIN = 'eip155:1/slip44:60';
const balance = (caip19: string, symbol: string, amount: string, decimals: number) =>
  ({ caip19, symbol, name: symbol, balance: amount, decimals, display: { usd: '', crypto: '' } }) as const;
const BALANCES = [balance(COIN, 'ETH', '2000000000000000000', 18), balance(TOKEN, 'USDC', '248120550000', 6)];
const sends = (amount: string, called?: string): Description =>
  ({
    sentence: [{ text: 'Send ' }, { text: amount, strong: true }],
    fields: called === undefined ? [] : [{ label: 'Calls', kind: 'ADDRESS', value: [{ text: 'x', address: called }] }],
    recipients: [{ address: '0x1', paidCount: 1 }],
  }) as unknown as Description;

test('amounts are read exactly', () => {
  expect(readAmount('12,500.05\u00a0USDC')).toEqual({ units: 1_250_005n, decimals: 2, unit: 'USDC' });
  expect(readAmount('unlimited USDC')).toBeUndefined();
});

test('amounts are taken from the sentence, else from the fields', () => {
  expect(amountsOf(sends('5 ETH'))).toEqual(['5 ETH']);
  const fields = [{ label: 'Value', kind: 'AMOUNT' as const, value: [{ text: '2 ETH' }] }];
  expect(amountsOf({ ...sends('x'), fields })).toEqual(['2 ETH']);
});

describe('what leaves an account', () => {
  test('is one amount of one asset, and its balance', () => {
    expect(movedBy(sends('12,500 USDC', USDC.toUpperCase().replace('0X', '0x')), BALANCES)).toEqual({
      caip19: TOKEN,
      symbol: 'USDC',
      decimals: 6,
      units: 12_500_000_000n,
      balance: 248_120_550_000n,
      paysFee: false,
    });
    expect(movedBy(sends('0.5 ETH'), BALANCES)).toMatchObject({ caip19: COIN, paysFee: true });
  });

  test.each([
    ['a token that only has the name', sends('1 USDC', '0x2222222222222222222222222222222222222222')],
    ['a token without its contract', sends('1 USDC')],
    ['an asset that is not configured', sends('1 DAI', USDC)],
    ['more decimals than it has', sends('0.0000001 USDC', USDC)],
    [
      'several recipients',
      {
        ...sends('1 ETH'),
        recipients: [
          { address: '0x1', paidCount: 0 },
          { address: '0x2', paidCount: 0 },
        ],
      },
    ],
    ['no amount', sends('everything')],
  ])('is not told of %s', (_, description) => {
    expect(movedBy(description, BALANCES)).toBeUndefined();
  });
});

describe('limits', () => {
  const moved = movedBy(sends('12,500 USDC', USDC), BALANCES) as Moved;
  const request = { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', walletId: 'w', userId: 'u' };
  const control = (change: { source?: object; aggregation?: object } = {}) =>
    ({
      velocityControlId: 'c',
      name: 'Payouts per day',
      dataSource: { chainAssetTransfer: { definition: [{ caip19: TOKEN, decimals: '6' }], ...change.source } },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '100000',
        window: {},
        groupBy: { organization: {} },
        ...change.aggregation,
      },
    }) as unknown as Parameters<typeof limitsFor>[2][number];
  const use = { velocityControlId: 'c', name: '', aggregate: '50000', threshold: '', operator: '', text: '' };
  const limits = (one: ReturnType<typeof control>, used: object = {}) =>
    limitsFor(moved, request, [one], [{ ...use, ...used }]);

  test('say what is used and what this request adds', () => {
    expect(limits(control())).toEqual([
      {
        id: 'c',
        name: 'Payouts per day',
        used: 0.5,
        request: 0.125,
        text: '62,500 of 100,000\u00a0USDC',
        usedText: 'used 50,000',
        requestText: 'this request 12,500',
        isExceeded: false,
      },
    ]);
  });

  test('say when they are exceeded, or just not', () => {
    expect(limits(control(), { aggregate: '87500' })[0]?.isExceeded).toBe(false);
    expect(limits(control(), { aggregate: '87500.000001' })[0]?.isExceeded).toBe(true);
    const below = control({ aggregation: { operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN' } });
    expect(limits(below, { aggregate: '87500' })[0]?.isExceeded).toBe(true);
  });

  test('of each wallet or user count its own', () => {
    const groups = [
      { key: 'other', aggregate: '99' },
      { key: 'w', aggregate: '1000' },
    ];
    expect(limits(control({ aggregation: { groupBy: { wallet: {} } } }), { groups })[0]?.usedText).toBe('used 1,000');
    expect(limits(control({ aggregation: { groupBy: { user: {} } } }), { groups })[0]?.usedText).toBe('used 0');
    const cut = { groups, groupsAreCut: true };
    expect(limits(control({ aggregation: { groupBy: { user: {} } } }), cut)).toEqual([]);
  });

  test.each([
    ['another asset', control({ source: { definition: [{ caip19: COIN, decimals: '18' }] } })],
    ['another type', control({ source: { filter: { activity: [{ activityType: 'ACTIVITY_TYPE_EARN_DEPOSIT' }] } } })],
    ['another phase', control({ source: { phase: { submission: {} } } })],
    ['numbers of transfers', control({ aggregation: { method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT' } })],
  ])('on %s are not shown', (_, one) => {
    expect(limits(one)).toEqual([]);
  });
});
