import type { Hex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chainSettings } from '../../../test/chain/chain-settings.ts';
import { stubContract, stubToken } from '../../../test/chain/stub-contracts.ts';
import { StubError, StubNode } from '../../../test/chain/stub-node.ts';
import type { EvmCall, EvmNode } from '../../chains/nodes/node.ts';
import { createNodes } from '../../chains/nodes/nodes.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { readCatalog } from './catalog.ts';
import { createEarn } from './create-earn.ts';
import { createGrowth } from './growth.ts';

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
  const chain = chainSettings({ caip2: stub.caip2, rpcUrls: [stub.url], vaults: [ONE, TWO, THREE], ...changes });
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

const PARTS = { scans: { vaultsOf: async () => [] }, growth: createGrowth(() => 0) };

/** A node without the network in between, for thousands of questions, and how many there were. */
function counted(changes: Partial<ChainSettings>) {
  const asked = { count: 0 };
  const node = {
    chain: open(changes).chain,
    block: async () => ({ number: 1n, timestamp: stub.head.timestamp }),
    callMany: async (calls: readonly EvmCall[]) => {
      asked.count += calls.length;
      return calls.map((call) => ({ ok: true, data: stub.contracts.get(call.to)?.(call) ?? '0x' }));
    },
  } as unknown as EvmNode;
  return { node, asked };
}

/** A reserve of Aave whose aToken is the third address. */
function furnishReserve(tvl: bigint): void {
  stub.contracts.set(PROVIDER, stubContract({ 'getPoolDataProvider() returns (address)': IRM }));
  const words = 'uint256, uint256, uint256, uint256, uint256, uint256';
  stub.contracts.set(
    IRM,
    stubContract({
      'getReserveTokensAddresses(address) returns (address, address, address)': [THREE, THREE, THREE],
      [`getReserveData(address) returns (${words}, uint256, uint256, uint256, uint256, uint256, uint40)`]: [
        0n,
        0n,
        tvl,
        ...Array(8).fill(0n),
        0,
      ],
      'getReserveConfigurationData(address) returns (uint256, uint256, uint256, uint256, uint256, bool, bool, bool, bool, bool)':
        [6n, 0n, 0n, 0n, 0n, true, true, false, true, false],
    }),
  );
}

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

  test('names a provider only where the vault is one of theirs', async () => {
    stub.contracts.set(ONE, plainVault());
    stub.contracts.set(
      TWO,
      plainVault({ 'MORPHO() returns (address)': OTHER, 'withdrawQueueLength() returns (uint256)': 31n }),
    );
    stub.contracts.set(
      THREE,
      plainVault({ 'adaptersLength() returns (uint256)': 11n, 'maxRate() returns (uint64)': 0n }),
    );
    const { earn, chain, vaults } = open();
    const providers = new Map((await vaults()).map(({ vaultAddress, provider }) => [vaultAddress, provider]));
    const expected = [undefined, 'EARN_PROVIDER_MORPHO', 'EARN_PROVIDER_MORPHO'];
    expect([ONE, TWO, THREE].map((address) => providers.get(address))).toEqual(expected);
    for (const [index, address] of [ONE, TWO, THREE].entries()) {
      expect((await earn.vault(chain, address))?.provider).toBe(expected[index]);
    }
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

  test('has at most 500 vaults that factories made, those of the highest value, and all that the operator chose', async () => {
    const made = Array.from({ length: 510 }, (_, index) => address(`e${String(index).padStart(4, '0')}`));
    for (const [index, vault] of made.entries()) {
      stub.contracts.set(vault, plainVault({ 'totalAssets() returns (uint256)': BigInt(index + 100) }));
    }
    // Of less value than any of them, and one that a factory made too.
    for (const own of [ONE, TWO]) stub.contracts.set(own, plainVault({ 'totalAssets() returns (uint256)': 1n }));
    furnishReserve(5n);
    const { node } = counted({ vaults: [ONE, TWO], aavePoolAddressesProvider: PROVIDER });
    const found = await readCatalog(node, USDC, { ...PARTS, scans: { vaultsOf: async () => [...made, TWO] } });
    expect(found).toHaveLength(503);
    expect(found[0]?.tvl).toBe(609n);
    expect(found.slice(-4).map(({ vaultAddress, tvl }) => [vaultAddress, tvl])).toEqual([
      [made[10], 110n],
      [THREE, 5n],
      [ONE, 1n],
      [TWO, 1n],
    ]);
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

describe('a Morpho Vault V2', () => {
  const PER_SECOND = (WAD * 8n) / 100n / 31_536_000n;
  const [FIRST_ADAPTER, FIRST_MARKET] = [0xad_0000n, 0x1d_0000n];

  /** Over markets that no other vault is in, each of which everything is lent from. */
  function arrange(vault: string, adapters: number, markets: number): void {
    const own = BigInt(vault) << 32n;
    const hex = (value: bigint, digits: number): Hex => `0x${value.toString(16).padStart(digits, '0')}`;
    const adapterAt = (index: bigint) => hex(own + FIRST_ADAPTER + index, 40);
    stub.contracts.set(
      vault,
      plainVault({
        'totalAssets() returns (uint256)': 1_000_000n,
        'adaptersLength() returns (uint256)': BigInt(adapters),
        'adapters(uint256) returns (address)': adapterAt,
        'performanceFee() returns (uint96)': 0n,
        'managementFee() returns (uint96)': 0n,
        'maxRate() returns (uint64)': PER_SECOND * 10n,
        'liquidityAdapter() returns (address)': address('0'),
        'liquidityData() returns (bytes)': '0x',
      }),
    );
    const share = 1_000_000n / BigInt(adapters * markets);
    for (let index = 0; index < adapters; index += 1) {
      const first = own + FIRST_MARKET + BigInt(index * 1000);
      stub.contracts.set(
        adapterAt(BigInt(index)),
        stubContract({
          'realAssets() returns (uint256)': share * BigInt(markets),
          'morpho() returns (address)': MORPHO,
          'marketIdsLength() returns (uint256)': BigInt(markets),
          'marketIds(uint256) returns (bytes32)': (at: bigint) => hex(first + at, 64),
          'supplyShares(bytes32) returns (uint256)': share * 10n ** 6n,
        }),
      );
    }
    stub.contracts.set(
      MORPHO,
      stubContract({
        'market(bytes32) returns (uint128, uint128, uint128, uint128, uint128, uint128)': [
          10n ** 15n,
          10n ** 21n,
          10n ** 15n,
          10n ** 21n,
          BigInt(stub.head.timestamp),
          0n,
        ],
        'idToMarketParams(bytes32) returns (address, address, address, address, uint256)': [
          USDC,
          OTHER,
          OTHER,
          IRM,
          0n,
        ],
      }),
    );
    stub.contracts.set(
      IRM,
      stubContract({
        'borrowRateView((address,address,address,address,uint256),(uint128,uint128,uint128,uint128,uint128,uint128)) returns (uint256)':
          PER_SECOND,
      }),
    );
  }
  const EARNS = Math.exp(0.08) - 1;

  test('earns what its adapters earn, as far as they are few', async () => {
    arrange(ONE, 2, 5);
    arrange(TWO, 11, 1);
    arrange(THREE, 1, 31);
    const { node, asked } = counted({ vaults: [ONE, TWO, THREE] });
    const found = await readCatalog(node, USDC, PARTS);
    expect(found.map(({ vaultAddress, tvl }) => [vaultAddress, tvl])).toEqual([
      [ONE, 1_000_000n],
      [TWO, 1_000_000n],
      [THREE, 1_000_000n],
    ]);
    expect(Number(found[0]?.apy)).toBeCloseTo(EARNS, 4);
    expect(found.slice(1).map(({ apy }) => apy)).toEqual(['', '']);
    expect(asked.count).toBeLessThan(150);
  });

  test('of strangers takes nothing of what is asked about others', async () => {
    arrange(ONE, 1, 10);
    const made = Array.from({ length: 8 }, (_, index) => address(`e${index}`));
    for (const vault of made) arrange(vault, 2, 30);
    const scans = { vaultsOf: async () => made };
    const generous = counted({ vaults: [ONE] });
    const all = await readCatalog(generous.node, USDC, { ...PARTS, scans });
    expect(all.filter(({ apy }) => apy !== '')).toHaveLength(9);
    const { node, asked } = counted({ vaults: [ONE] });
    const found = await readCatalog(node, USDC, { ...PARTS, scans, questionsMax: 1_000 });
    // They are listed all the same, as any other vault.
    expect(found).toHaveLength(9);
    expect(found.filter(({ apy }) => apy !== '').map(({ vaultAddress }) => vaultAddress)).toEqual([ONE]);
    expect(asked.count).toBeLessThan(generous.asked.count / 2);
    expect(asked.count).toBeLessThan(1_150);
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
