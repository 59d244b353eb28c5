import { someAddress } from './chain-text.ts';
import type { ContractReader } from './contract-reader.ts';
import { assetsOf, availableIn, readMarket } from './morpho-market.ts';
import { readMorphoV1, smaller, type VaultState, weightedRate } from './morpho-v1.ts';
import { compounded, fromWad, SECONDS_PER_YEAR, WAD } from './rates.ts';
import { morphoV2, token, vault } from './views.ts';

/** Whoever makes a vault chooses its adapters, so that one with more is read as any other vault. */
const ADAPTERS_MAX = 10n;
const MARKETS_MAX = 30n;
/** Five words: the parameters of a market, whose hash is its id. */
const MARKET_PARAMS_LENGTH = 2 + 5 * 64;

interface Adapter {
  readonly supplied: bigint;
  readonly rate: number | undefined;
  /** What it can return at once, of the market that the data names; undefined for an adapter of an unknown kind. */
  readonly returnable: (data: string, hash: Hash) => bigint | undefined;
}

type Hash = (data: `0x${string}`) => string;

/**
 * A Morpho Vault V2; undefined where the contract is none. Its own max* functions always answer 0 and are not asked.
 */
export async function readMorphoV2(
  reader: ContractReader,
  address: string,
  asset: string,
  nowSeconds: number,
): Promise<VaultState | undefined> {
  const [tvl, length, performanceFee, managementFee, maxRate] = await Promise.all([
    reader.read(vault.totalAssets, address),
    reader.read(morphoV2.adaptersLength, address),
    reader.read(morphoV2.performanceFee, address),
    reader.read(morphoV2.managementFee, address),
    reader.read(morphoV2.maxRate, address),
  ]);
  if (tvl === undefined || length === undefined || performanceFee === undefined || managementFee === undefined)
    return undefined;
  if (maxRate === undefined || length > ADAPTERS_MAX || performanceFee > WAD || managementFee > WAD) return undefined;
  const indexes = Array.from({ length: Number(length) }, (_, index) => BigInt(index));
  const adapters = new Map<string, Adapter>();
  await Promise.all(
    indexes.map(async (index) => {
      const adapter = await reader.read(morphoV2.adapters, address, index);
      if (adapter === undefined) return;
      const state = await readAdapter(reader, adapter, nowSeconds);
      if (state !== undefined) adapters.set(adapter.toLowerCase(), state);
    }),
  );
  if (adapters.size < indexes.length) return undefined;
  const gross = weightedRate([...adapters.values()], tvl);
  return {
    tvl,
    liquidity: await liquidityOf(reader, { address, asset, tvl, adapters }),
    rate: gross === undefined ? undefined : netRate(gross, { performanceFee, managementFee, maxRate }),
  };
}

/**
 * What a vault's shares grow by: it books no more than `maxRate`, and takes its own fees. Both rates are per second.
 */
export function netRate(
  gross: number,
  fees: { readonly performanceFee: bigint; readonly managementFee: bigint; readonly maxRate: bigint },
): number {
  const booked = Math.min(gross, compounded(fromWad(fees.maxRate)));
  return booked * (1 - fromWad(fees.performanceFee)) - fromWad(fees.managementFee) * SECONDS_PER_YEAR;
}

async function liquidityOf(
  reader: ContractReader,
  of: {
    readonly address: string;
    readonly asset: string;
    readonly tvl: bigint;
    readonly adapters: ReadonlyMap<string, Adapter>;
  },
): Promise<bigint | undefined> {
  const [idle, liquidityAdapter, data] = await Promise.all([
    reader.read(token.balanceOf, of.asset, of.address),
    reader.read(morphoV2.liquidityAdapter, of.address),
    reader.read(morphoV2.liquidityData, of.address),
  ]);
  if (idle === undefined || liquidityAdapter === undefined || data === undefined) return undefined;
  const named = someAddress(liquidityAdapter);
  if (named === undefined) return smaller(idle, of.tvl);
  const { keccak256 } = await import('viem/utils');
  const returnable = of.adapters.get(named)?.returnable(data, keccak256);
  return returnable === undefined ? undefined : smaller(idle + returnable, of.tvl);
}

async function readAdapter(reader: ContractReader, address: string, nowSeconds: number): Promise<Adapter | undefined> {
  const [realAssets, vaultV1, morphoAddress, length] = await Promise.all([
    reader.read(morphoV2.realAssets, address),
    reader.read(morphoV2.morphoVaultV1, address),
    reader.read(morphoV2.morpho, address),
    reader.read(morphoV2.marketIdsLength, address),
  ]);
  if (realAssets === undefined) return undefined;
  if (vaultV1 !== undefined) return await overVaultV1(reader, realAssets, vaultV1, nowSeconds);
  if (morphoAddress !== undefined && length !== undefined && length <= MARKETS_MAX)
    return await overMarkets(reader, address, morphoAddress, Number(length), realAssets, nowSeconds);
  return unknownAdapter(realAssets);
}

const unknownAdapter = (supplied: bigint): Adapter => ({ supplied, rate: undefined, returnable: () => undefined });

async function overVaultV1(
  reader: ContractReader,
  supplied: bigint,
  vaultV1: string,
  nowSeconds: number,
): Promise<Adapter> {
  const inner = await readMorphoV1(reader, vaultV1, nowSeconds);
  if (inner === undefined) return unknownAdapter(supplied);
  const { liquidity } = inner;
  return {
    supplied,
    rate: inner.rate,
    returnable: () => (liquidity === undefined ? undefined : smaller(supplied, liquidity)),
  };
}

async function overMarkets(
  reader: ContractReader,
  address: string,
  morphoAddress: string,
  length: number,
  supplied: bigint,
  nowSeconds: number,
): Promise<Adapter> {
  const indexes = Array.from({ length }, (_, index) => BigInt(index));
  const found = await Promise.all(
    indexes.map(async (index) => {
      const id = await reader.read(morphoV2.marketIds, address, index);
      if (id === undefined) return undefined;
      const [state, shares] = await Promise.all([
        readMarket(reader, morphoAddress, id, nowSeconds),
        reader.read(morphoV2.supplyShares, address, id),
      ]);
      if (state === undefined || shares === undefined) return undefined;
      return { id: id.toLowerCase(), state, supplied: assetsOf(shares, state.market) };
    }),
  );
  const markets = found.filter((market) => market !== undefined);
  if (markets.length < found.length) return unknownAdapter(supplied);
  return {
    supplied,
    rate: weightedRate(
      markets.map((market) => ({ supplied: market.supplied, rate: market.state.rate })),
      supplied,
    ),
    returnable(data, hash) {
      if (data.length !== MARKET_PARAMS_LENGTH) return undefined;
      const id = hash(data as `0x${string}`).toLowerCase();
      const named = markets.find((market) => market.id === id);
      return named === undefined ? 0n : smaller(named.supplied, availableIn(named.state.market));
    },
  };
}
