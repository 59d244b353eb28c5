import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stubContract, stubToken } from '../../test/chain/stub-contracts.ts';
import { StubError, StubNode } from '../../test/chain/stub-node.ts';
import type { ChainSettings } from '../lib/chain.ts';
import type { EvmCall, EvmNode, Nodes } from '../nodes/node.ts';
import { createNodes } from '../nodes/nodes.ts';
import { createEarn } from './create-earn.ts';

const address = (digits: string): string => `0x${digits.padStart(40, '0')}`;
const USDC = address('a1');
const OTHER = address('a2');
const MORPHO = address('b1');
const IRM = address('b2');
const PROVIDER = address('c1');
const [ONE, TWO, THREE] = [address('d1'), address('d2'), address('d3')];
const MARKET_ID: Hex = `0x${'01'.padStart(64, '0')}`;
const WAD = 10n ** 18n;

let stub: StubNode;
let closing: (() => void)[] = [];

beforeEach(async () => {
  stub = await StubNode.start();
  stub.contracts.set(USDC, stubToken('USDC', 6));
});
afterEach(async () => {
  for (const close of closing) close();
  closing = [];
  await stub[Symbol.asyncDispose]();
});

function open(changes: Partial<ChainSettings> = {}) {
  const chain: ChainSettings = {
    caip2: stub.caip2,
    namespace: 'eip155',
    reference: String(stub.chainId),
    rpcUrls: [stub.url],
    confirmations: 1,
    pollMs: 100,
    replaceAfterSeconds: 90,
    sendWithinSeconds: 3600,
    maxFeePerGas: 10n ** 12n,
    assets: [],
    prices: new Map(),
    batchContract: undefined,
    operatorAddress: undefined,
    aavePoolAddressesProvider: undefined,
    morphoFactories: [],
    vaults: [ONE, TWO, THREE],
    ...changes,
  };
  const nodes = createNodes(new Map([[chain.caip2, chain]]), { retryPauseMs: 1 });
  const earn = createEarn({ nodes, clock: () => 0 });
  closing.push(earn.close, nodes.close);
  return { chain, earn, vaults: (asset = USDC) => earn.vaults(chain, asset) };
}

const plainVault = (changes: Readonly<Record<string, unknown>> = {}) =>
  stubContract({
    'asset() returns (address)': USDC,
    'totalAssets() returns (uint256)': 1_000n,
    'name() returns (string)': 'Plain',
    'decimals() returns (uint8)': 18,
    'convertToAssets(uint256) returns (uint256)': (shares: bigint) => shares / 10n ** 12n,
    ...changes,
  });

describe('the list', () => {
  test('is sorted by value, those of one value by address', async () => {
    stub.contracts.set(ONE, plainVault({ 'totalAssets() returns (uint256)': 5n }));
    stub.contracts.set(TWO, plainVault({ 'totalAssets() returns (uint256)': 10n ** 30n }));
    stub.contracts.set(THREE, plainVault({ 'totalAssets() returns (uint256)': 5n }));
    expect((await open().vaults()).map(({ vaultAddress }) => vaultAddress)).toEqual([TWO, ONE, THREE]);
    // The order in which they are configured is no matter.
    expect((await open({ vaults: [THREE, TWO, ONE] }).vaults()).map(({ vaultAddress }) => vaultAddress)).toEqual([
      TWO,
      ONE,
      THREE,
    ]);
  });

  test.each([
    ['of another asset', plainVault({ 'asset() returns (address)': OTHER })],
    ['that does not tell its value', stubContract({ 'asset() returns (address)': USDC })],
    ['whose value is no number', () => '0x01' as Hex],
    ['that is not there', () => undefined],
    [
      'that refuses',
      () => {
        throw new StubError('execution reverted', 3, '0x');
      },
    ],
  ])('leaves out a vault %s, and no other', async (_what, contract) => {
    stub.contracts.set(ONE, plainVault());
    stub.contracts.set(TWO, contract);
    stub.contracts.set(THREE, plainVault());
    expect((await open().vaults()).map(({ vaultAddress }) => vaultAddress)).toEqual([ONE, THREE]);
    const { earn, chain } = open();
    expect(await earn.vault(chain, ONE)).toMatchObject({ vaultAddress: ONE });
  });

  test('cleans what contracts call themselves', async () => {
    stub.contracts.set(ONE, plainVault({ 'name() returns (string)': `\u001b[2J\u202eevil\n${'x'.repeat(500)}` }));
    const [vault] = await open({ vaults: [ONE] }).vaults();
    expect(vault?.name).toBe(`[2Jevil${'x'.repeat(93)}`);
  });

  test('has nothing of an asset that is no token, or whose decimals cannot be', async () => {
    stub.contracts.set(ONE, plainVault());
    expect(await open().vaults()).toHaveLength(1);
    stub.contracts.set(USDC, stubToken('USDC', 77));
    expect(await open().vaults()).toEqual([]);
    stub.contracts.delete(USDC);
    expect(await open().vaults()).toEqual([]);
  });

  test('has at most 500 vaults, those of the highest value', async () => {
    const vaults = Array.from({ length: 510 }, (_, index) => address(`e${String(index).padStart(4, '0')}`));
    for (const [index, vault] of vaults.entries()) {
      stub.contracts.set(vault, plainVault({ 'totalAssets() returns (uint256)': BigInt(index) }));
    }
    // Without the network in between: there are thousands of questions.
    const { chain } = open({ vaults });
    const node = {
      chain,
      block: async () => ({ number: 1n, timestamp: 1 }),
      callMany: async (calls: readonly EvmCall[]) =>
        calls.map((call) => ({ ok: true, data: stub.contracts.get(call.to)?.(call) ?? '0x' })),
    } as unknown as EvmNode;
    const earn = createEarn({ nodes: { evm: () => node } as unknown as Nodes, clock: () => 0 });
    const found = await earn.vaults(chain, USDC);
    expect(found).toHaveLength(500);
    expect(found[0]?.tvl).toBe(509n);
    expect(found.at(-1)?.tvl).toBe(10n);
  });

  test('is withheld while no node answers, and asked for again', async () => {
    stub.contracts.set(ONE, plainVault());
    stub.methods.set('eth_getBlockByNumber', () => {
      throw new StubError('request rate limit exceeded', -32005);
    });
    const { vaults } = open();
    await expect(vaults()).rejects.toMatchObject({ name: 'NodeError' });
    stub.methods.clear();
    expect(await vaults()).toHaveLength(1);
  });

  test('is read with few requests', async () => {
    for (const vault of [ONE, TWO, THREE]) stub.contracts.set(vault, plainVault());
    let posts = 0;
    stub.methods.set('eth_call', ((call: { to: string; data: Hex }) => {
      posts += 1;
      return stub.contracts.get(call.to.toLowerCase())?.(call as never) ?? '0x';
    }) as never);
    const { vaults } = open();
    await vaults();
    const first = posts;
    await vaults();
    expect(posts).toBe(first);
    expect(first).toBeLessThan(60);
  });
});

describe('what a plain vault can pay out at once', () => {
  test('is known where it keeps everything itself', async () => {
    stub.contracts.set(USDC, stubToken('USDC', 6, { [ONE]: 1_000n, [TWO]: 999n, [THREE]: 5_000n }));
    for (const vault of [ONE, TWO, THREE]) stub.contracts.set(vault, plainVault());
    const vaults = await open().vaults();
    expect(vaults.map(({ vaultAddress, liquidity }) => [vaultAddress, liquidity])).toEqual([
      [ONE, 1_000n],
      [TWO, undefined],
      [THREE, 1_000n],
    ]);
  });
});

describe('a Morpho Vault V1', () => {
  const MARKET = {
    totalSupplyAssets: 1_000_000n,
    totalSupplyShares: 1_000_000n * 10n ** 6n,
    totalBorrowAssets: 250_000n,
    totalBorrowShares: 250_000n * 10n ** 6n,
    fee: WAD / 10n,
  };

  const rateModel = (perSecond: bigint) =>
    stubContract({
      'borrowRateView((address,address,address,address,uint256),(uint128,uint128,uint128,uint128,uint128,uint128)) returns (uint256)':
        perSecond,
    });

  function arrange(
    changes: Readonly<Record<string, unknown>> = {},
    model = rateModel((WAD * 8n) / 100n / 31_536_000n),
  ) {
    const lastUpdate = BigInt(stub.head.timestamp);
    stub.contracts.set(
      MORPHO,
      stubContract({
        'market(bytes32) returns (uint128, uint128, uint128, uint128, uint128, uint128)': [
          MARKET.totalSupplyAssets,
          MARKET.totalSupplyShares,
          MARKET.totalBorrowAssets,
          MARKET.totalBorrowShares,
          lastUpdate,
          MARKET.fee,
        ],
        'idToMarketParams(bytes32) returns (address, address, address, address, uint256)': [
          USDC,
          OTHER,
          OTHER,
          IRM,
          (WAD * 86n) / 100n,
        ],
        'position(bytes32, address) returns (uint256, uint128, uint128)': [800_000n * 10n ** 6n, 0n, 0n],
      }),
    );
    stub.contracts.set(IRM, model);
    stub.contracts.set(
      ONE,
      plainVault({
        'totalAssets() returns (uint256)': 1_000_000n,
        'MORPHO() returns (address)': MORPHO,
        'fee() returns (uint96)': WAD / 5n,
        'withdrawQueueLength() returns (uint256)': 1n,
        'withdrawQueue(uint256) returns (bytes32)': MARKET_ID,
        ...changes,
      }),
    );
  }

  test('earns what its markets earn, weighted, less its own fee', async () => {
    arrange();
    const [vault] = await open({ vaults: [ONE] }).vaults();
    // 8 % are paid on a quarter of the market, which keeps a tenth; 80 % of the vault are there, which keeps a fifth.
    expect(Number(vault?.apy)).toBeCloseTo((Math.exp(0.08) - 1) * 0.25 * 0.9 * 0.8 * 0.8, 9);
    expect(vault?.liquidity).toBe(750_000n);
  });

  test.each([
    ['refuses', () => undefined],
    ['claims the impossible', rateModel(10n ** 30n)],
  ])('whose market %s has no rate that could be told', async (_what, model) => {
    arrange({}, model);
    const [vault] = await open({ vaults: [ONE] }).vaults();
    expect(vault).toMatchObject({ vaultAddress: ONE, tvl: 1_000_000n, apy: '' });
  });

  test.each([
    ['a queue without end', { 'withdrawQueueLength() returns (uint256)': 2n ** 255n }],
    ['a fee above everything', { 'fee() returns (uint96)': WAD + 1n }],
  ])('that tells of %s is read as any other vault', async (_what, changes) => {
    arrange(changes);
    const [vault] = await open({ vaults: [ONE] }).vaults();
    expect(vault).toMatchObject({ tvl: 1_000_000n, liquidity: undefined, apy: '' });
  });
});

describe('prices', () => {
  const oracle = (changes: Readonly<Record<string, unknown>> = {}) => {
    stub.contracts.set(PROVIDER, stubContract({ 'getPriceOracle() returns (address)': OTHER }));
    stub.contracts.set(
      OTHER,
      stubContract({
        'getAssetPrice(address) returns (uint256)': 99_970_000n,
        'BASE_CURRENCY() returns (address)': address('0'),
        'BASE_CURRENCY_UNIT() returns (uint256)': 100_000_000n,
        ...changes,
      }),
    );
  };
  const CAIP19 = `eip155:31337/erc20:${USDC}`;
  const settings = { aavePoolAddressesProvider: PROVIDER, prices: new Map([[CAIP19, '1.25']]) };

  test("are those of Aave's oracle", async () => {
    oracle();
    const { earn, chain } = open(settings);
    expect(await earn.priceOf(chain, CAIP19)).toBe('0.9997');
  });

  test.each([
    ['has none', { 'getAssetPrice(address) returns (uint256)': 0n }],
    ['counts in another currency', { 'BASE_CURRENCY() returns (address)': IRM }],
    ['counts in odd units', { 'BASE_CURRENCY_UNIT() returns (uint256)': 12_345n }],
  ])('are the configured ones where the oracle %s', async (_what, changes) => {
    oracle(changes);
    const { earn, chain } = open(settings);
    expect(await earn.priceOf(chain, CAIP19)).toBe('1.25');
    expect(await earn.priceOf({ ...chain, prices: new Map() }, CAIP19)).toBeUndefined();
  });

  test('of native assets are configured alone', async () => {
    oracle();
    const native = 'eip155:31337/slip44:60';
    const { earn, chain } = open({ ...settings, prices: new Map([[native, '3000']]) });
    expect(await earn.priceOf(chain, native)).toBe('3000');
    expect(stub.requests).toEqual([]);
  });

  test('are the configured ones while no node answers', async () => {
    oracle();
    stub.methods.set('eth_call', () => {
      throw new StubError('request rate limit exceeded', -32005);
    });
    const { earn, chain } = open(settings);
    expect(await earn.priceOf(chain, CAIP19)).toBe('1.25');
    stub.methods.clear();
    expect(await earn.priceOf(chain, CAIP19)).toBe('0.9997');
  });
});
