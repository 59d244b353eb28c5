import type { ContractReader } from './contract-reader.ts';
import { assetsOf, availableIn, type MarketState, readMarket } from './morpho-market.ts';
import { fromWad, ratio, WAD } from './rates.ts';
import { morpho, morphoV1, vault } from './views.ts';

/** No vault of this kind has more markets. */
const MARKETS_MAX = 30n;

export interface VaultState {
  readonly tvl: bigint;
  readonly liquidity: bigint | undefined;
  /** Net of the vault's own fees; undefined where it has to be learnt from the price of its shares. */
  readonly rate: number | undefined;
}

export interface MarketPosition extends MarketState {
  readonly id: `0x${string}`;
  readonly supplied: bigint;
}

/** A Morpho Vault V1 (MetaMorpho); undefined where the contract is none. */
export async function readMorphoV1(
  reader: ContractReader,
  address: string,
  nowSeconds: number,
): Promise<(VaultState & { readonly positions: readonly MarketPosition[] }) | undefined> {
  const [tvl, fee, morphoAddress, length] = await Promise.all([
    reader.read(vault.totalAssets, address),
    reader.read(morphoV1.fee, address),
    reader.read(morphoV1.MORPHO, address),
    reader.read(morphoV1.withdrawQueueLength, address),
  ]);
  if (tvl === undefined || fee === undefined || morphoAddress === undefined || length === undefined) return undefined;
  if (fee > WAD || length > MARKETS_MAX) return undefined;
  const indexes = Array.from({ length: Number(length) }, (_, index) => BigInt(index));
  const positions = await Promise.all(
    indexes.map(async (index): Promise<MarketPosition | undefined> => {
      const id = await reader.read(morphoV1.withdrawQueue, address, index);
      return id && (await readPosition(reader, morphoAddress, id, address, nowSeconds));
    }),
  );
  const known = positions.filter((position) => position !== undefined);
  if (known.length < positions.length) return undefined;
  let liquidity = 0n;
  for (const { supplied, market } of known) liquidity += smaller(supplied, availableIn(market));
  const gross = weightedRate(known, tvl);
  return {
    tvl,
    liquidity: smaller(liquidity, tvl),
    rate: gross === undefined ? undefined : gross * (1 - fromWad(fee)),
    positions: known,
  };
}

async function readPosition(
  reader: ContractReader,
  morphoAddress: string,
  id: `0x${string}`,
  supplier: string,
  nowSeconds: number,
): Promise<MarketPosition | undefined> {
  const [state, position] = await Promise.all([
    readMarket(reader, morphoAddress, id, nowSeconds),
    reader.read(morpho.position, morphoAddress, id, supplier),
  ]);
  if (state === undefined || position === undefined) return undefined;
  return { ...state, id, supplied: assetsOf(position[0], state.market) };
}

/**
 * What the parts earn together; what is in none of them earns nothing. Undefined where the rate of one is not known.
 */
export function weightedRate(
  parts: readonly { readonly supplied: bigint; readonly rate: number | undefined }[],
  total: bigint,
): number | undefined {
  let sum = 0;
  for (const { supplied, rate } of parts) {
    if (supplied === 0n) continue;
    if (rate === undefined) return undefined;
    sum += ratio(supplied, total) * rate;
  }
  return sum;
}

export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
