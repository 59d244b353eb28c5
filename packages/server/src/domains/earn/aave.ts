import { formatUnits } from '../../lib/amount.ts';
import { someAddress } from './chain-text.ts';
import type { ContractReader } from './contract-reader.ts';
import { smaller, type VaultState } from './morpho-v1.ts';
import { compoundedEverySecond, fromRay } from './rates.ts';
import { aave, token } from './views.ts';

export interface AaveReserve extends VaultState {
  /** The address by which the reserve is known here: it has one of its own. */
  readonly aToken: string;
  /** Whether it takes deposits; withdrawals are another matter. */
  readonly isOpen: boolean;
}

/** The reserve of an asset in the market of a PoolAddressesProvider; undefined where it has none. */
export async function readReserve(
  reader: ContractReader,
  provider: string,
  asset: string,
): Promise<AaveReserve | undefined> {
  const market = await reader.read(aave.getPoolDataProvider, provider);
  if (market === undefined) return undefined;
  const [tokens, data, configuration, isPaused, virtual] = await Promise.all([
    reader.read(aave.getReserveTokensAddresses, market, asset),
    reader.read(aave.getReserveData, market, asset),
    reader.read(aave.getReserveConfigurationData, market, asset),
    reader.read(aave.getPaused, market, asset),
    reader.read(aave.getVirtualUnderlyingBalance, market, asset),
  ]);
  const aToken = someAddress(tokens?.[0]);
  if (aToken === undefined || data === undefined || configuration === undefined) return undefined;
  const tvl = data[2];
  // Before version 3.1 the reserve did not count what it has.
  const available = virtual ?? (await reader.read(token.balanceOf, asset, aToken));
  const [isActive, isFrozen] = [configuration[8], configuration[9]];
  return {
    aToken,
    tvl,
    liquidity: available === undefined ? undefined : smaller(available, tvl),
    rate: compoundedEverySecond(fromRay(data[5])),
    isOpen: isActive && !isFrozen && isPaused !== true,
  };
}

/** The asset of an aToken of this market; undefined for any other contract. */
export async function assetOfReserve(
  reader: ContractReader,
  provider: string,
  aToken: string,
): Promise<string | undefined> {
  const [asset, market] = await Promise.all([
    reader.read(aave.UNDERLYING_ASSET_ADDRESS, aToken),
    reader.read(aave.getPoolDataProvider, provider),
  ]);
  if (asset === undefined || market === undefined) return undefined;
  const tokens = await reader.read(aave.getReserveTokensAddresses, market, asset);
  return someAddress(tokens?.[0]) === aToken ? someAddress(asset) : undefined;
}

/**
 * US dollars for one whole unit, by the oracle of the market; undefined where it has no price or counts in something
 * else.
 */
export async function readOraclePrice(
  reader: ContractReader,
  provider: string,
  asset: string,
): Promise<string | undefined> {
  const oracle = await reader.read(aave.getPriceOracle, provider);
  if (oracle === undefined) return undefined;
  const [price, currency, unit] = await Promise.all([
    reader.read(aave.getAssetPrice, oracle, asset),
    reader.read(aave.BASE_CURRENCY, oracle),
    reader.read(aave.BASE_CURRENCY_UNIT, oracle),
  ]);
  if (price === undefined || price === 0n || currency === undefined || unit === undefined) return undefined;
  // No address stands for the dollar.
  if (someAddress(currency) !== undefined) return undefined;
  const digits = unit.toString();
  return /^10{0,36}$/.test(digits) ? formatUnits(price, digits.length - 1) : undefined;
}
