import type { EvmBlock, EvmNode } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { type AaveReserve, assetOfReserve, readReserve } from './aave.ts';
import { chainText, someAddress, tokenDecimals } from './chain-text.ts';
import { type ContractReader, createContractReader } from './contract-reader.ts';
import type { CatalogVault, VaultExposure } from './earn.ts';
import { readErc4626 } from './erc4626.ts';
import { type FactoryScans, makerOf } from './factory-scan.ts';
import { type Growth, sharesOf } from './growth.ts';
import { readMorphoV1, type VaultState } from './morpho-v1.ts';
import { readMorphoV2 } from './morpho-v2.ts';
import { fromWad, rateText, ratio } from './rates.ts';
import { morphoV1, morphoV2, token, vault as vaultViews } from './views.ts';

/** Of one asset, those of factories that have the highest value. */
const VAULTS_MAX = 500;
/** How much may be asked about the markets of one vault, and of all that are read together unless told otherwise. */
const QUESTIONS_PER_VAULT = 2_000;
const QUESTIONS_MAX = 50_000;

export interface CatalogParts {
  readonly scans: FactoryScans;
  readonly growth: Growth;
  /** How much may be asked about the markets of all vaults that are read together. */
  readonly questionsMax?: number;
}

interface Place extends CatalogParts {
  readonly node: EvmNode;
  readonly chain: ChainSettings;
  readonly reader: ContractReader;
  readonly latest: EvmBlock;
}

interface Asset {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

async function placeOf(node: EvmNode, parts: CatalogParts): Promise<Place> {
  const latest = await node.block('latest');
  if (latest === undefined) throw new NodeError('ill-shaped', 'there is no latest block');
  return { ...parts, node, chain: node.chain, latest, reader: createContractReader(node) };
}

/** The vaults of an asset that take deposits, by value descending. One that answers nonsense is left out. */
export async function readCatalog(
  node: EvmNode,
  assetAddress: string,
  parts: CatalogParts,
): Promise<readonly CatalogVault[]> {
  const place = await placeOf(node, parts);
  const { reader, chain, latest, scans } = place;
  const asset = await readAsset(place, assetAddress);
  if (asset === undefined) return [];
  const provider = chain.aavePoolAddressesProvider;
  const [made, reserve] = await Promise.all([
    scans.vaultsOf(node, reader, assetAddress, latest.number),
    provider === undefined ? undefined : readReserve(reader, provider, assetAddress),
  ]);
  const own = new Set(chain.vaults);
  // What strangers make never takes the place of what the operator has chosen.
  const [chosen, others] = await Promise.all([
    byWorth(reader, [...own], assetAddress),
    byWorth(
      reader,
      made.filter((address) => !own.has(address)),
      assetAddress,
    ),
  ]);
  const largest = others.slice(0, VAULTS_MAX);
  const { questionsMax = QUESTIONS_MAX } = parts;
  const forChosen = partOf(questionsMax / 2, chosen.length);
  const forOthers = partOf(questionsMax - forChosen * chosen.length, largest.length);
  const fromFactories = new Set(made);
  const isMade = (address: string): boolean => fromFactories.has(address);
  const read = await Promise.all([
    ...chosen.map((address) => readVault(place, address, asset, forChosen, isMade(address))),
    ...largest.map((address) => readVault(place, address, asset, forOthers, isMade(address))),
  ]);
  const vaults = read.filter((found) => found !== undefined);
  if (reserve?.isOpen) vaults.push(aaveVault(place, reserve, asset));
  return vaults.sort(byValue);
}

/** What each of some vaults may be asked: an equal part, so that none uses up what is there for the others. */
const partOf = (questions: number, vaults: number): number =>
  Math.min(QUESTIONS_PER_VAULT, Math.floor(questions / Math.max(vaults, 1)));

/** By value descending; those of one value by address. */
export const byValue = (
  one: Pick<CatalogVault, 'tvl' | 'vaultAddress'>,
  other: Pick<CatalogVault, 'tvl' | 'vaultAddress'>,
): number => {
  if (one.tvl !== other.tvl) return one.tvl > other.tvl ? -1 : 1;
  if (one.vaultAddress === other.vaultAddress) return 0;
  return one.vaultAddress < other.vaultAddress ? -1 : 1;
};

/** Anybody can make vaults by the thousand, so that their value is read before anything else of them. */
async function byWorth(
  reader: ContractReader,
  addresses: readonly string[],
  assetAddress: string,
): Promise<readonly string[]> {
  const sized = await Promise.all(
    addresses.map(async (vaultAddress) => {
      const [asset, tvl] = await Promise.all([
        reader.read(vaultViews.asset, vaultAddress),
        reader.read(vaultViews.totalAssets, vaultAddress),
      ]);
      return asset?.toLowerCase() === assetAddress && tvl !== undefined ? [{ vaultAddress, tvl }] : [];
    }),
  );
  return sized
    .flat()
    .sort(byValue)
    .map(({ vaultAddress }) => vaultAddress);
}

/** A vault of one of the chain's sources; undefined for any other contract. */
export async function readOneVault(
  node: EvmNode,
  vaultAddress: string,
  parts: CatalogParts,
): Promise<CatalogVault | undefined> {
  const place = await placeOf(node, parts);
  const { reader, chain } = place;
  const provider = chain.aavePoolAddressesProvider;
  const [maker, reserved] = await Promise.all([
    makerOf(reader, chain.morphoFactories, vaultAddress),
    provider === undefined ? undefined : assetOfReserve(reader, provider, vaultAddress),
  ]);
  if (provider !== undefined && reserved !== undefined) {
    const [asset, reserve] = await Promise.all([readAsset(place, reserved), readReserve(reader, provider, reserved)]);
    return asset && reserve && aaveVault(place, reserve, asset);
  }
  if (maker === undefined && !chain.vaults.includes(vaultAddress)) return undefined;
  const underlying = someAddress(await reader.read(vaultViews.asset, vaultAddress));
  const asset = underlying && (await readAsset(place, underlying));
  return asset ? await readVault(place, vaultAddress, asset, QUESTIONS_PER_VAULT, maker !== undefined) : undefined;
}

async function readAsset({ reader, chain }: Place, address: string): Promise<Asset | undefined> {
  const configured = chain.assets.find(({ caip19 }) => caip19.toLowerCase() === `${chain.caip2}/erc20:${address}`);
  const [told, symbol] = await Promise.all([reader.read(token.decimals, address), reader.read(token.symbol, address)]);
  const decimals = tokenDecimals(told);
  if (decimals === undefined) return undefined;
  return { address, decimals, symbol: chainText(symbol) || (configured?.symbol ?? '') };
}

const aaveVault = ({ chain }: Place, { aToken, tvl, liquidity, rate }: AaveReserve, asset: Asset): CatalogVault => ({
  caip2: chain.caip2,
  vaultAddress: aToken,
  provider: 'EARN_PROVIDER_AAVE',
  assetAddress: asset.address,
  assetSymbol: asset.symbol,
  assetDecimals: asset.decimals,
  tvl,
  liquidity,
  apy: rateText(rate),
  name: asset.symbol,
  curator: '',
});

async function readVault(
  place: Place,
  address: string,
  asset: Asset,
  questions: number,
  isMade: boolean,
): Promise<CatalogVault | undefined> {
  const { reader, chain } = place;
  const [name, isMorpho, state] = await Promise.all([
    reader.read(token.name, address),
    isMade || looksLikeMorpho(reader, address),
    readState(place, address, asset.address, questions),
  ]);
  if (state === undefined) return undefined;
  const rate = state.rate ?? (await grownRate(place, address));
  return {
    caip2: chain.caip2,
    vaultAddress: address,
    provider: isMorpho ? 'EARN_PROVIDER_MORPHO' : undefined,
    assetAddress: asset.address,
    assetSymbol: asset.symbol,
    assetDecimals: asset.decimals,
    tvl: state.tvl,
    liquidity: state.liquidity,
    apy: rateText(rate),
    name: chainText(name),
    // The chain has an address at most; its name only the operator knows.
    curator: chain.curators.get(address) ?? '',
  };
}

/** A vault that the operator lists is Morpho's where it has the functions of one of its two kinds, whoever made it. */
async function looksLikeMorpho(reader: ContractReader, address: string): Promise<boolean> {
  const [morpho, queue, adapters, maxRate] = await Promise.all([
    reader.read(morphoV1.MORPHO, address),
    reader.read(morphoV1.withdrawQueueLength, address),
    reader.read(morphoV2.adaptersLength, address),
    reader.read(morphoV2.maxRate, address),
  ]);
  return (morpho !== undefined && queue !== undefined) || (adapters !== undefined && maxRate !== undefined);
}

/**
 * By what the contract can do: a vault of the operator's list may be of any kind. One that has more to tell than may be
 * asked is read as any other.
 */
async function readState(
  { reader, latest }: Place,
  address: string,
  asset: string,
  questions: number,
): Promise<VaultState | undefined> {
  const markets = reader.within(questions);
  const [first, second, plain] = await Promise.all([
    readMorphoV1(markets, address, latest.timestamp),
    readMorphoV2(markets, address, asset, latest.timestamp),
    readErc4626(reader, address, asset),
  ]);
  return first ?? second ?? plain;
}

async function grownRate({ node, reader, latest, growth }: Place, address: string): Promise<number | undefined> {
  const decimals = tokenDecimals(await reader.read(token.decimals, address));
  if (decimals === undefined) return undefined;
  const shares = sharesOf(decimals);
  const price = await reader.read(vaultViews.convertToAssets, address, shares);
  return price === undefined ? undefined : await growth.rateOf(node, latest, address, price, shares);
}

/** Where a Morpho Vault V1 has lent, the largest first; empty for every other contract. */
export async function readExposures(
  node: EvmNode,
  vaultAddress: string,
  parts: CatalogParts,
): Promise<readonly VaultExposure[]> {
  const { reader, latest } = await placeOf(node, parts);
  const state = await readMorphoV1(reader, vaultAddress, latest.timestamp);
  if (state === undefined) return [];
  const lent = state.positions.filter(({ supplied }) => supplied > 0n);
  const exposures = await Promise.all(
    lent.map(async ({ id, params, supplied }): Promise<VaultExposure> => {
      const collateralAddress = someAddress(params.collateralToken);
      const symbol = collateralAddress && (await reader.read(token.symbol, collateralAddress));
      return {
        marketId: id.toLowerCase(),
        collateralAddress,
        collateralSymbol: chainText(symbol),
        lltv: rateText(fromWad(params.lltv)),
        share: rateText(ratio(supplied, state.tvl)),
        supplied,
      };
    }),
  );
  return exposures.sort((one, other) => (one.supplied > other.supplied ? -1 : 1));
}
