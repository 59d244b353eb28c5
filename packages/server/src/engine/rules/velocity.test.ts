import { describe, expect, test } from 'vitest';
import type { AssetTransfer, UncountedPart } from '../../chains/asset-types.ts';
import type { VelocityAggregation, VelocityControl, VelocityDataSource } from '../../core/model.ts';
import { ApiError } from '../../lib/errors.ts';
import { randomId } from '../../lib/ids.ts';
import {
  amountAgainst,
  checkControl,
  groupOf,
  type Motion,
  motionsFor,
  refusedUncounted,
  satisfies,
  toDecimal,
  windowMs,
} from './velocity.ts';

const ETHER = { caip19: 'eip155:1/slip44:60', decimals: '18' };
const TOKEN = { caip19: `eip155:1/erc20:0x${'Ab'.repeat(20)}`, decimals: '6' };
const transfers = (...definition: (typeof ETHER)[]): VelocityDataSource => ({ chainAssetTransfer: { definition } });

const aggregation = (extra: Partial<VelocityAggregation> = {}): VelocityAggregation => ({
  method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
  operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
  threshold: '1',
  window: { rolling: { duration: '24h' } },
  groupBy: { organization: {} },
  ...extra,
});
const COUNT = { method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT' } as const;

const control = (
  dataSource: VelocityDataSource = transfers(ETHER),
  extra: Partial<VelocityAggregation> = {},
): VelocityControl => ({
  id: randomId(),
  name: 'control',
  identifier: 'control',
  dataSource,
  aggregation: aggregation(extra),
  refuseUncounted: false,
  createdAtMs: 1,
  updatedAtMs: 1,
});

const ether = (amount: bigint, chainReference: string | undefined = '1'): AssetTransfer => ({
  chain: 'eip155',
  chainReference,
  kind: 'slip44',
  assetReference: '60',
  amount,
});
const token = (amount: bigint, assetReference: string | undefined = `0x${'ab'.repeat(20)}`): AssetTransfer => ({
  chain: 'eip155',
  chainReference: '1',
  kind: 'erc20',
  assetReference,
  amount,
});
const motion = (moved: readonly AssetTransfer[] = [], extra: Partial<Motion> = {}): Motion => ({
  activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  userId: 'u1',
  walletId: 'w1',
  transfers: moved,
  uncounted: [],
  ...extra,
});

/** What counts, in whole units; undefined when nothing does. */
function counted(of: VelocityControl, moved: Motion, phase: 'signature' | 'submission' = 'signature') {
  const amount = amountAgainst(of, moved, phase);
  return amount === undefined ? undefined : toDecimal(amount);
}

describe('what a control may say', () => {
  const flaw = (dataSource: VelocityDataSource, extra: Partial<VelocityAggregation> = {}) => {
    try {
      checkControl(dataSource, aggregation(extra), 'parameters');
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect((error as ApiError).code).toBe('REQUEST_INVALID');
      return (error as ApiError).violations.map(({ field }) => field).join() || (error as ApiError).message;
    }
    return undefined;
  };
  const execution: VelocityDataSource = { activityExecution: {} };
  const withPhase = (phase: object): VelocityDataSource => ({ chainAssetTransfer: { definition: [ETHER], phase } });

  test.each<[string, VelocityDataSource, Partial<VelocityAggregation>]>([
    ['transfers by amount', transfers(ETHER, TOKEN), {}],
    ['transfers by number', transfers(ETHER), COUNT],
    ['activities by number', execution, COUNT],
    ['at signing', withPhase({ signature: {} }), {}],
    ['at broadcast', withPhase({ submission: {} }), {}],
    ['for ever', transfers(ETHER), { window: { infinite: {} } }],
    ['by user', transfers(ETHER), { groupBy: { user: {} } }],
    ['by wallet', transfers(ETHER), { groupBy: { wallet: {} } }],
    ['with the most decimals', transfers({ ...ETHER, decimals: '77' }), {}],
    ['for the longest window', transfers(ETHER), { window: { rolling: { duration: '366d' } } }],
  ])('%s', (_name, dataSource, extra) => {
    expect(flaw(dataSource, extra)).toBeUndefined();
  });

  test.each<[string, VelocityDataSource, Partial<VelocityAggregation>, string | RegExp]>([
    ['nothing to count', {}, {}, 'parameters.dataSource'],
    ['two things to count', { ...transfers(ETHER), ...execution }, COUNT, 'parameters.dataSource'],
    ['no asset', transfers({ ...ETHER, caip19: 'ether' }), {}, /caip19/],
    ['an asset that nothing moves', transfers({ ...ETHER, caip19: 'eip155:1/erc721:0x00' }), {}, /caip19/],
    [
      'too many decimals',
      transfers(ETHER, { ...ETHER, decimals: '78' }),
      {},
      'parameters.dataSource.chainAssetTransfer.definition.1.decimals',
    ],
    ['no phase', withPhase({}), {}, 'parameters.dataSource.chainAssetTransfer.phase'],
    ['two phases', withPhase({ signature: {}, submission: {} }), {}, 'parameters.dataSource.chainAssetTransfer.phase'],
    ['a sum of activities', execution, {}, 'parameters.aggregation.method'],
    ['no window', transfers(ETHER), { window: {} }, 'parameters.aggregation.window'],
    [
      'two windows',
      transfers(ETHER),
      { window: { rolling: { duration: '1h' }, infinite: {} } },
      'parameters.aggregation.window',
    ],
    [
      'a window that is none',
      transfers(ETHER),
      { window: { rolling: { duration: 'a day' } } },
      'parameters.aggregation.window.rolling.duration',
    ],
    ['no group', transfers(ETHER), { groupBy: {} }, 'parameters.aggregation.groupBy'],
    ['two groups', transfers(ETHER), { groupBy: { user: {}, wallet: {} } }, 'parameters.aggregation.groupBy'],
  ])('not %s', (_name, dataSource, extra, where) => {
    if (typeof where === 'string') expect(flaw(dataSource, extra)).toBe(where);
    else expect(flaw(dataSource, extra)).toMatch(where);
  });
});

describe('windows', () => {
  const length = (duration: string) => windowMs(aggregation({ window: { rolling: { duration } } }));

  test.each([
    ['1s', 1000],
    ['3600s', 3_600_000],
    ['90m', 5_400_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['366d', 31_622_400_000],
  ])('%s', (duration, ms) => expect(length(duration)).toBe(ms));

  test.each(['', '0s', '01h', '1', 'h', '1w', '1H', '1.5h', '-1h', ' 1h', '1h ', '24h30m', '367d', '99999999999s'])(
    '%j is none',
    (duration) => expect(length(duration)).toBeUndefined(),
  );

  test('an infinite one has no length', () => {
    expect(windowMs(aggregation({ window: { infinite: {} } }))).toBeUndefined();
  });
});

describe('what counts', () => {
  const ONE_ETHER = 10n ** 18n;

  test('a sum is in units of the asset, whatever its decimals', () => {
    const both = control(transfers(ETHER, TOKEN));
    expect(counted(both, motion([ether(ONE_ETHER / 4n)]))).toBe('0.25');
    expect(counted(both, motion([token(2_500_000n)]))).toBe('2.5');
    expect(counted(both, motion([ether(1n), token(1n)]))).toBe('0.000001000000000001');
    expect(counted(both, motion([ether(2n ** 256n - 1n)]))).toMatch(/^1157920892\d+\.\d+$/);
    const whole = control(transfers({ ...TOKEN, decimals: '0' }));
    expect(counted(whole, motion([token(7n)]))).toBe('7');
  });

  test('a number of transfers is one for each', () => {
    const number = control(transfers(ETHER, TOKEN), COUNT);
    expect(counted(number, motion([ether(5n), ether(6n), token(7n)]))).toBe('3');
  });

  test('what is no transfer of the asset does not', () => {
    const only = control(transfers(ETHER));
    expect(counted(only, motion([]))).toBeUndefined();
    expect(counted(only, motion([token(1n)]))).toBeUndefined();
    expect(counted(only, motion([ether(1n, '10')]))).toBeUndefined();
    expect(counted(only, motion([ether(ONE_ETHER), token(1n)]))).toBe('1');
  });

  test('what leaves the chain or the token open does', () => {
    expect(counted(control(transfers(ETHER)), motion([{ ...ether(ONE_ETHER), chainReference: undefined }]))).toBe('1');
    expect(counted(control(transfers(TOKEN)), motion([{ ...token(1_000_000n), assetReference: undefined }]))).toBe('1');
  });

  test('a filter names the types of activity', () => {
    const filter = { activity: [{ activityType: 'A' }, { activityType: 'B' }] };
    const filtered = [
      control({ chainAssetTransfer: { definition: [ETHER], filter } }),
      control({ activityExecution: { filter } }, COUNT),
    ];
    for (const one of filtered) {
      const of = (activityType: string) => counted(one, motion([ether(ONE_ETHER)], { activityType }));
      expect([of('A'), of('B'), of('C')]).toEqual(['1', '1', undefined]);
    }
    expect(counted(control({ activityExecution: { filter: {} } }, COUNT), motion())).toBe('1');
  });

  test('an activity counts as one, whatever it moves and whatever happens to that', () => {
    const execution = control({ activityExecution: {} }, COUNT);
    expect(counted(execution, motion())).toBe('1');
    expect(counted(execution, motion([ether(1n), ether(1n)]))).toBe('1');
    expect(counted(execution, motion(), 'submission')).toBe('1');
  });

  test('a phase counts in its own phase only; without one it is the signature', () => {
    const moved = motion([ether(ONE_ETHER)]);
    const inPhase = (phase?: object) =>
      control({ chainAssetTransfer: { definition: [ETHER], ...(phase && { phase }) } });
    const both = (one: VelocityControl) => [counted(one, moved), counted(one, moved, 'submission')];
    expect(both(inPhase())).toEqual(['1', undefined]);
    expect(both(inPhase({ signature: {} }))).toEqual(['1', undefined]);
    expect(both(inPhase({ submission: {} }))).toEqual([undefined, '1']);
  });
});

test('groups', () => {
  const group = (groupBy: VelocityAggregation['groupBy'], extra: Partial<Motion> = {}) =>
    groupOf(control(undefined, { groupBy }), motion([], extra));
  expect(group({ organization: {} })).toBe(group({ organization: {} }, { userId: 'u2', walletId: 'w2' }));
  expect(group({ user: {} })).toBe(group({ user: {} }, { walletId: 'w2' }));
  expect(group({ user: {} })).not.toBe(group({ user: {} }, { userId: 'u2' }));
  expect(group({ wallet: {} })).toBe(group({ wallet: {} }, { userId: 'u2' }));
  expect(group({ wallet: {} })).not.toBe(group({ wallet: {} }, { walletId: 'w2' }));
  expect(group({ wallet: {} }, { walletId: undefined })).toBeUndefined();
  // A user and a wallet of one id are two groups.
  expect(group({ user: {} }, { userId: 'x' })).not.toBe(group({ wallet: {} }, { walletId: 'x' }));
});

describe('thresholds', () => {
  const UNIT = 10n ** 78n;
  const holds = (operator: string, threshold: string, total: bigint) =>
    satisfies(
      control(undefined, {
        operator: `VELOCITY_CONTROL_AGGREGATION_OPERATOR_${operator}` as VelocityAggregation['operator'],
        threshold,
      }),
      total,
    );

  test.each([
    ['LESS_THAN', [true, false, false]],
    ['LESS_THAN_OR_EQUAL', [true, true, false]],
    ['EQUAL', [false, true, false]],
    ['GREATER_THAN_OR_EQUAL', [false, true, true]],
    ['GREATER_THAN', [false, false, true]],
  ])('%s below, at and above', (operator, expected) => {
    // One part in 10^78 decides.
    const around = [2n * UNIT - 1n, 2n * UNIT, 2n * UNIT + 1n];
    expect(around.map((total) => holds(operator, '2', total))).toEqual(expected);
    expect(around.map((total) => holds(operator, '002.000', total))).toEqual(expected);
    const half = UNIT / 2n;
    expect([half - 1n, half, half + 1n].map((total) => holds(operator, '0.5', total))).toEqual(expected);
    const least = `0.${'0'.repeat(77)}1`;
    expect([0n, 1n, 2n].map((total) => holds(operator, least, total))).toEqual(expected);
  });

  test('zero lets nothing through that counts', () => {
    expect(holds('LESS_THAN_OR_EQUAL', '0', 0n)).toBe(true);
    expect(holds('LESS_THAN_OR_EQUAL', '0', 1n)).toBe(false);
  });

  test.each([
    [0n, '0'],
    [UNIT, '1'],
    [10n * UNIT, '10'],
    [100n * UNIT, '100'],
    [UNIT / 2n, '0.5'],
    [(1050n * UNIT) / 100n, '10.5'],
    [1n, `0.${'0'.repeat(77)}1`],
    [UNIT + 1n, `1.${'0'.repeat(77)}1`],
  ])('%s is written as %s', (total, text) => expect(toDecimal(total)).toBe(text));
});

describe('what cannot be counted', () => {
  const part = (name: string, extra: Partial<UncountedPart> = {}): UncountedPart => ({
    name,
    certainty: 'known',
    reach: [{ chain: 'eip155', chainReference: '1' }],
    ...extra,
  });
  const nobodyKnows = part('the call', { certainty: 'unknown', reach: [] });
  const strict = (...assets: Parameters<typeof transfers>): VelocityControl => ({
    ...control(transfers(...assets)),
    refuseUncounted: true,
  });
  const refused = (of: VelocityControl, moved: Motion, ...others: VelocityControl[]) =>
    refusedUncounted(of, [...others, of], moved);
  const holding = (...uncounted: UncountedPart[]) => motion([], { uncounted });

  test('is refused by controls on what it is known to move', () => {
    const [coin, erc20] = [control(transfers(ETHER)), control(transfers(TOKEN))];
    expect(refused(coin, holding(nobodyKnows, part('everything')))).toBe('everything');
    expect(refused(erc20, holding(part('everything')))).toBe('everything');
    const ofCoin = part('coin', { reach: [{ chain: 'eip155', chainReference: '1', kind: 'slip44' }] });
    expect(refused(coin, holding(ofCoin))).toBe('coin');
    expect(refused(erc20, holding(ofCoin))).toBeUndefined();
    const ofToken = part('token', { reach: [{ chain: 'eip155', chainReference: undefined, kind: 'erc20' }] });
    expect(refused(erc20, holding(ofCoin, ofToken))).toBe('token');
    expect(refused(coin, holding(ofToken))).toBeUndefined();
    const elsewhere = part('elsewhere', { reach: [{ chain: 'eip155', chainReference: '10' }] });
    expect(refused(coin, holding(elsewhere))).toBeUndefined();
    expect(refused(control({ activityExecution: {} }, COUNT), holding(part('everything')))).toBeUndefined();
  });

  test('is no matter to a control that does not look at the activity, the wallet or the phase', () => {
    const everything = holding(part('everything'));
    const source = transfers(ETHER).chainAssetTransfer as NonNullable<VelocityDataSource['chainAssetTransfer']>;
    const filtered = (activityType: string) =>
      control({ chainAssetTransfer: { ...source, filter: { activity: [{ activityType }] } } });
    expect(refused(filtered('ACTIVITY_TYPE_SIGN_TRANSACTION'), everything)).toBe('everything');
    expect(refused(filtered('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'), everything)).toBeUndefined();
    const sent = control({ chainAssetTransfer: { ...source, phase: { submission: {} } } });
    expect(refused(sent, everything)).toBeUndefined();
    expect(refused(sent, { ...everything, phases: ['submission'] })).toBe('everything');
    expect(refused(control(), { ...everything, phases: ['submission'] })).toBeUndefined();
    const byWallet = control(transfers(ETHER), { groupBy: { wallet: {} } });
    expect(refused(byWallet, everything)).toBe('everything');
    expect(refused(byWallet, { ...everything, walletId: undefined })).toBeUndefined();
    const wallets = [
      { walletId: 'w1', transfers: [], uncounted: [] },
      { walletId: 'w2', transfers: [], uncounted: [part('everything')] },
    ];
    expect(refused(byWallet, motion([], { wallets }))).toBe('everything');
    expect(refused(byWallet, motion([], { wallets: wallets.slice(0, 1) }))).toBeUndefined();
  });

  test('is refused wherever it comes from, if refuseUncounted is set', () => {
    expect(refused(control(), holding(nobodyKnows))).toBeUndefined();
    expect(refused(strict(ETHER), holding(nobodyKnows))).toBe('the call');
    const elsewhere = part('elsewhere', { reach: [{ chain: 'solana', chainReference: undefined }] });
    expect(refused(strict(ETHER), holding(elsewhere))).toBe('elsewhere');
    expect(refused(strict(ETHER), motion([ether(1n)]))).toBeUndefined();
    expect(refused(control(), motion([token(1n)]))).toBeUndefined();
    expect(refused(strict(ETHER), motion([ether(1n), token(1n)]))).toBe(
      `a transfer of eip155:1/erc20:0x${'ab'.repeat(20)}`,
    );
  });

  test('a fee counts in a sum of its asset, if refuseUncounted is set', () => {
    const paying = motion([ether(2n)], { fees: [ether(3n)] });
    const [sum, without] = [strict(ETHER), control()].map((one) => amountAgainst(one, paying, 'signature'));
    expect(without).toBe(amountAgainst(control(), motion([ether(2n)]), 'signature'));
    expect(sum).toBe(amountAgainst(control(), motion([ether(5n)]), 'signature'));
    expect(amountAgainst(strict(ETHER), motion([], { fees: [ether(5n)] }), 'signature')).toBe(sum);
    // The fee is no transfer, and other assets are another control's.
    expect(counted({ ...control(transfers(ETHER), COUNT), refuseUncounted: true }, paying)).toBe('1');
    expect(counted(strict(TOKEN), paying)).toBeUndefined();
    expect(refused(strict(TOKEN), motion([token(1n)], { fees: [ether(3n)] }))).toBeUndefined();
    // It is the payer's alone.
    const byWallet = { ...strict(ETHER), aggregation: aggregation({ groupBy: { wallet: {} } }) };
    const wallets = [
      { walletId: 'w1', transfers: [], uncounted: [], fees: [ether(3n)] },
      { walletId: 'w2', transfers: [ether(2n)], uncounted: [] },
    ];
    expect(
      motionsFor(byWallet, { ...paying, wallets }).map((one) => amountAgainst(byWallet, one, 'signature')),
    ).toEqual([3n, 2n].map((amount) => amountAgainst(control(), motion([ether(amount)]), 'signature')));
  });

  test('a price of gas without a limit has no fee to count', () => {
    const open = motion([ether(1n)], { fees: [{ ...ether(1n), amount: undefined }] });
    expect(refused(strict(ETHER), open)).toBe('maxFeePerGas without gasLimit');
    expect(refused(control(), open)).toBeUndefined();
    expect(refused(strict(TOKEN), { ...open, transfers: [token(1n)] })).toBeUndefined();
    expect(refused({ ...control(transfers(ETHER), COUNT), refuseUncounted: true }, open)).toBeUndefined();
  });

  test('counts as counted where another control does', () => {
    const moved = motion([ether(1n), token(1n)]);
    expect(refused(strict(ETHER, TOKEN), moved)).toBeUndefined();
    expect(refused(strict(ETHER), moved, control(transfers(TOKEN)))).toBeUndefined();
    expect(refused(strict(ETHER), moved, control({ activityExecution: {} }, COUNT))).toContain('erc20');
    const reach = [
      { chain: 'eip155', chainReference: '1', kind: 'erc20', assetReference: `0x${'ab'.repeat(20)}` },
    ] as const;
    const empty = holding(part('approve nothing', { certainty: 'unknown', reach }));
    expect(refused(strict(TOKEN), empty)).toBeUndefined();
    expect(refused(strict(ETHER), empty)).toBe('approve nothing');
    expect(refused(strict(ETHER), empty, control(transfers(TOKEN)))).toBeUndefined();
  });
});
