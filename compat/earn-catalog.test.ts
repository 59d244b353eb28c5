// The catalog of Earn against a real Aave v3 market and a real Morpho Blue: what it says is what the contracts then do.
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodes } from '../packages/server/src/chains/nodes/nodes.ts';
import type { ChainSettings } from '../packages/server/src/chains/settings.ts';
import { createEarn } from '../packages/server/src/domains/earn/create-earn.ts';
import type { CatalogVault } from '../packages/server/src/domains/earn/earn.ts';
import { chainSettings } from '../packages/server/test/chain/chain-settings.ts';
import { type AaveMarket, deployAave } from './chain/aave.ts';
import { type Anvil, startAnvil } from './chain/anvil.ts';
import { testArtifact } from './chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed, fundedAccount } from './chain/deploy.ts';
import { deployMorpho, type Morpho } from './chain/morpho.ts';

const YEAR = 365 * 86_400;
const CAIP2 = 'eip155:31337';
const usdc = (amount: number): bigint => BigInt(amount) * 10n ** 6n;

let anvil: Anvil;
let chain: ChainClient;
let aave: AaveMarket;
let morpho: Morpho;
let plain: Deployed;
let settings: ChainSettings;

beforeAll(async () => {
  anvil = await startAnvil();
  chain = connectTo(anvil);
  aave = await deployAave(chain);
  morpho = await deployMorpho(chain, { usdc: aave.usdc.token, weth: aave.weth.token });
  plain = await chain.deploy(testArtifact('TestVault'), [aave.usdc.token.address]);
  const depositor = fundedAccount(6);
  await chain.write(depositor, aave.usdc.token, 'mint', [depositor.address, usdc(10_000)]);
  await chain.write(depositor, aave.usdc.token, 'approve', [plain.address, usdc(10_000)]);
  await chain.write(depositor, plain, 'deposit', [usdc(10_000), depositor.address]);
  settings = chainSettings({
    rpcUrls: [anvil.url],
    aavePoolAddressesProvider: lower(aave.addressesProvider.address),
    morphoFactories: [lower(morpho.metaMorphoFactory.address), lower(morpho.vaultV2Factory.address)],
    vaults: [lower(plain.address)],
  });
});

afterAll(async () => await anvil.stop());

const lower = (address: Address): string => address.toLowerCase();

function open(changes: Partial<ChainSettings> = {}) {
  const configured = { ...settings, ...changes };
  const nodes = createNodes(new Map([[CAIP2, configured]]));
  const reports: unknown[] = [];
  let nowMs = 0;
  const earn = createEarn({ nodes, clock: () => nowMs, observe: (_key, error) => void reports.push(error) });
  return {
    earn,
    reports,
    chain: configured,
    advance: (milliseconds: number) => {
      nowMs += milliseconds;
    },
    vaults: () => earn.vaults(configured, aave.usdc.token.address),
    [Symbol.dispose]: () => {
      earn.close();
      nodes.close();
    },
  };
}

function oneOf(vaults: readonly CatalogVault[], { address }: { address: Address }): CatalogVault {
  const found = vaults.find(({ vaultAddress }) => vaultAddress === lower(address));
  if (found === undefined) throw new Error(`${address} is not in the catalog`);
  return found;
}

const priceOf = (vault: Deployed): Promise<bigint> => chain.read<bigint>(vault, 'convertToAssets', [10n ** 30n]);
const growth = (before: bigint, after: bigint): number => Number(((after - before) * 10n ** 15n) / before) / 1e15;

/** What is earned in the seconds that a test takes. */
const isSmall = (amount: bigint): boolean => amount >= 0n && amount < usdc(1);

/** Runs in a year that nobody else sees. */
async function inAYear<Value>(read: () => Promise<Value>, seconds = YEAR): Promise<Value> {
  const snapshot = await anvil.snapshot();
  try {
    await anvil.increaseTime(seconds);
    return await read();
  } finally {
    await anvil.revert(snapshot);
  }
}

describe('the catalog', () => {
  test('holds the vaults of all sources, by value descending', async () => {
    using opened = open();
    const vaults = await opened.vaults();
    const summaries = vaults.map(({ vaultAddress, provider, name }) => [vaultAddress, provider, name]);
    // The first two are worth the same but for what they earn.
    expect(summaries.slice(0, 2).sort(([, one], [, other]) => (`${one}` < `${other}` ? -1 : 1))).toEqual([
      [lower(aave.usdc.aToken.address), 'EARN_PROVIDER_AAVE', 'USDC'],
      [lower(morpho.metaMorpho.address), 'EARN_PROVIDER_MORPHO', 'Steady USDC'],
    ]);
    expect(summaries.slice(2)).toEqual([
      [lower(morpho.vaultV2.address), 'EARN_PROVIDER_MORPHO', 'Second USDC'],
      [lower(plain.address), undefined, 'Test Vault'],
    ]);
    const [first, second] = vaults;
    expect((first as CatalogVault).tvl >= (second as CatalogVault).tvl).toBe(true);
    for (const vault of vaults) {
      expect(vault).toMatchObject({ caip2: CAIP2, assetSymbol: 'USDC', assetDecimals: 6 });
      expect(vault.assetAddress).toBe(lower(aave.usdc.token.address));
    }
    expect(oneOf(vaults, morpho.metaMorpho).curator).toBe('');
    expect(oneOf(vaults, aave.usdc.aToken).curator).toBe('');
    expect(opened.earn.providersOf(opened.chain, aave.usdc.token.address)).toEqual([
      'EARN_PROVIDER_MORPHO',
      'EARN_PROVIDER_AAVE',
    ]);
    expect(opened.reports).toEqual([]);
  });

  test('of another asset holds its own vaults alone, and of no token none', async () => {
    using opened = open();
    const vaults = await opened.earn.vaults(opened.chain, aave.weth.token.address);
    expect(vaults.map(({ vaultAddress }) => vaultAddress)).toEqual([lower(aave.weth.aToken.address)]);
    expect(await opened.earn.vaults(opened.chain, aave.pool.address)).toEqual([]);
  });

  test('finds a vault that was made since it last looked', async () => {
    using opened = open();
    const before = await opened.vaults();
    const owner = fundedAccount(0);
    const args = [owner.address, 0n, aave.usdc.token.address, 'New USDC', 'nUSDC', `0x${'01'.padStart(64, '0')}`];
    await chain.write(owner, morpho.metaMorphoFactory, 'createMetaMorpho', args);
    opened.advance(11 * 60_000);
    const after = await opened.vaults();
    expect(after.map(({ name }) => name).sort()).toEqual([...before.map(({ name }) => name), 'New USDC'].sort());
    expect(after.at(-1)).toMatchObject({ name: 'New USDC', tvl: 0n, apy: '0', liquidity: 0n });
  });

  test('leaves out a reserve that takes no deposits, and still tells of it', async () => {
    const snapshot = await anvil.snapshot();
    try {
      await chain.write(fundedAccount(0), aave.configurator, 'setReserveFreeze', [aave.usdc.token.address, true]);
      using opened = open();
      const vaults = await opened.vaults();
      expect(vaults.map(({ provider }) => provider)).not.toContain('EARN_PROVIDER_AAVE');
      expect(await opened.earn.vault(opened.chain, aave.usdc.aToken.address)).toMatchObject({ name: 'USDC' });
    } finally {
      await anvil.revert(snapshot);
    }
  });
});

describe('one vault', () => {
  test('is known by its source alone', async () => {
    using opened = open();
    const vaults = await opened.vaults();
    for (const { address } of [aave.usdc.aToken, morpho.metaMorpho, morpho.vaultV2, plain]) {
      const { apy: _apy, tvl: _tvl, liquidity: _liquidity, ...listed } = oneOf(vaults, { address });
      expect(await opened.earn.vault(opened.chain, address)).toMatchObject(listed);
    }
    // A vault that works as well, but comes from nobody whom the operator named.
    const stranger = await chain.deploy(testArtifact('TestVault'), [aave.usdc.token.address]);
    expect(await opened.earn.vault(opened.chain, stranger.address)).toBeUndefined();
    expect(await opened.earn.vault(opened.chain, aave.usdc.token.address)).toBeUndefined();
    expect(await opened.earn.vault(opened.chain, fundedAccount(1).address)).toBeUndefined();
    using without = open({ morphoFactories: [], vaults: [], aavePoolAddressesProvider: undefined });
    expect(await without.earn.vault(without.chain, morpho.metaMorpho.address)).toBeUndefined();
    expect(await without.vaults()).toEqual([]);
  });
});

describe('what is said of an Aave reserve', () => {
  test('is what suppliers get', async () => {
    using opened = open();
    const { tvl, liquidity, apy } = oneOf(await opened.vaults(), aave.usdc.aToken);
    const held = () => chain.read<bigint>(aave.usdc.aToken, 'balanceOf', [aave.supplier]);
    expect(liquidity).toBe(usdc(500_000));
    const supply = await chain.read<bigint>(aave.usdc.aToken, 'totalSupply');
    expect(supply - tvl).toSatisfy(isSmall);
    const before = await held();
    // Within a year in which nobody touches the reserve it pays plain interest; what is compounded is told.
    const perYear = growth(before, await inAYear(held));
    expect(perYear).toBeCloseTo(0.01125, 8);
    expect(Number(apy)).toBeCloseTo((1 + 0.01125 / YEAR) ** YEAR - 1, 7);
    const perHour = growth(before, await inAYear(held, 3600));
    expect((1 + perHour) ** (365 * 24) - 1).toBeCloseTo(Number(apy), 5);
  });

  test('has the price of its oracle, before the configured one', async () => {
    const caip19 = `${CAIP2}/erc20:${aave.weth.token.address}`;
    const other = `${CAIP2}/erc20:${aave.pool.address}`;
    using opened = open({
      prices: new Map([
        [caip19.toLowerCase(), '1'],
        [other.toLowerCase(), '7.5'],
      ]),
    });
    expect(await opened.earn.priceOf(opened.chain, caip19)).toBe('2000');
    expect(await opened.earn.priceOf(opened.chain, other)).toBe('7.5');
    expect(await opened.earn.priceOf(opened.chain, `${CAIP2}/erc20:${aave.oracle.address}`)).toBeUndefined();
  });
});

describe('what is said of a Morpho vault', () => {
  test('V1: value, liquidity and rate are those of its markets', async () => {
    using opened = open();
    const { tvl, liquidity, apy } = oneOf(await opened.vaults(), morpho.metaMorpho);
    const price = await priceOf(morpho.metaMorpho);
    expect(tvl - usdc(1_000_000)).toSatisfy(isSmall);
    // All that is idle, and of the market the 600,000 that nobody borrowed; what the vault earned there is lent.
    expect(liquidity).toBe(usdc(1_000_000));
    // 40 % of the market are borrowed at 40 % a year; 60 % of the vault are in it, and it keeps a tenth.
    expect(Number(apy)).toBeCloseTo(Math.expm1(0.4) * 0.4 * 0.6 * 0.9, 4);
    const grown = growth(price, await inAYear(() => priceOf(morpho.metaMorpho)));
    expect(grown / Number(apy)).toBeGreaterThan(0.99);
    expect(grown / Number(apy)).toBeLessThan(1.01);
  });

  test('V1: more than is there cannot be withdrawn', async () => {
    const snapshot = await anvil.snapshot();
    try {
      const account = fundedAccount(9);
      const borrow = [morpho.lent.params, usdc(500_000), 0n, account.address, account.address];
      await chain.write(account, morpho.morpho, 'borrow', borrow);
      using opened = open();
      const { liquidity } = oneOf(await opened.vaults(), morpho.metaMorpho);
      expect(liquidity).toBe(await chain.read<bigint>(morpho.usdc, 'balanceOf', [morpho.morpho.address]));
      const withdraw = (amount: bigint) =>
        chain.reader.simulateContract({
          account: fundedAccount(8),
          address: morpho.metaMorpho.address,
          abi: morpho.metaMorpho.abi,
          functionName: 'withdraw',
          args: [amount, morpho.supplier, morpho.supplier],
        });
      await expect(withdraw(liquidity as bigint)).resolves.toBeDefined();
      await expect(withdraw((liquidity as bigint) + 10n)).rejects.toThrow();
    } finally {
      await anvil.revert(snapshot);
    }
  });

  test('V1: where it has lent', async () => {
    using opened = open();
    const exposures = await opened.earn.exposures(opened.chain, morpho.metaMorpho.address);
    expect(exposures).toEqual([
      {
        marketId: morpho.lent.id,
        collateralAddress: lower(aave.weth.token.address),
        collateralSymbol: 'WETH',
        lltv: '0.86',
        share: expect.stringMatching(/^0\.[56]/),
        supplied: expect.toSatisfy((amount: bigint) => amount >= usdc(600_000) && amount < usdc(601_000)),
      },
      {
        marketId: morpho.idle.id,
        collateralAddress: undefined,
        collateralSymbol: '',
        lltv: '0',
        share: expect.stringMatching(/^0\.[34]/),
        supplied: usdc(400_000),
      },
    ]);
    expect(await opened.earn.exposures(opened.chain, plain.address)).toEqual([]);
  });

  test('V2: what it holds and what its adapter can return', async () => {
    using opened = open();
    const { tvl, liquidity, apy } = oneOf(await opened.vaults(), morpho.vaultV2);
    const price = await priceOf(morpho.vaultV2);
    expect(tvl - usdc(500_000)).toSatisfy(isSmall);
    expect(liquidity).toBe(tvl);
    expect(Number(apy)).toBeCloseTo(Math.expm1(0.4) * 0.4 * 0.8 * 0.95, 4);
    const grown = growth(price, await inAYear(() => priceOf(morpho.vaultV2)));
    expect(grown / Number(apy)).toBeGreaterThan(0.99);
    expect(grown / Number(apy)).toBeLessThan(1.01);
  });

  test('V2: books no more than its own bound', async () => {
    const snapshot = await anvil.snapshot();
    try {
      const perYear = 10n ** 18n / 20n;
      await chain.write(fundedAccount(0), morpho.vaultV2, 'setMaxRate', [perYear / BigInt(YEAR)]);
      using opened = open();
      const { apy } = oneOf(await opened.vaults(), morpho.vaultV2);
      expect(Number(apy)).toBeCloseTo(Math.expm1(0.05) * 0.95, 6);
      const price = await priceOf(morpho.vaultV2);
      const grown = growth(price, await inAYear(() => priceOf(morpho.vaultV2)));
      expect(grown).toBeCloseTo(0.05 * 0.95, 4);
    } finally {
      await anvil.revert(snapshot);
    }
  });
});

describe('what is said of any other vault', () => {
  test('is learnt from the price of its shares', async () => {
    const snapshot = await anvil.snapshot();
    try {
      using opened = open();
      expect(oneOf(await opened.vaults(), plain)).toMatchObject({
        tvl: usdc(10_000),
        liquidity: usdc(10_000),
        apy: '',
        curator: '',
      });
      await chain.write(fundedAccount(0), aave.usdc.token, 'mint', [plain.address, usdc(1)]);
      await anvil.increaseTime(43_200);
      opened.advance(11 * 60_000);
      const { apy, tvl } = oneOf(await opened.vaults(), plain);
      expect(tvl).toBe(usdc(10_001));
      // A ten thousandth in half a day, 730 times.
      expect(Number(apy)).toBeCloseTo(1.0001 ** 730 - 1, 3);
    } finally {
      await anvil.revert(snapshot);
    }
  });
});
