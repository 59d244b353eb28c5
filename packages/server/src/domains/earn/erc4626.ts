import type { ContractReader } from './contract-reader.ts';
import type { VaultState } from './morpho-v1.ts';
import { token, vault } from './views.ts';

/**
 * Any ERC-4626 vault. What can be withdrawn at once is told by its functions only for a holder, and none is known here:
 * it is known where the vault keeps everything itself.
 */
export async function readErc4626(
  reader: ContractReader,
  address: string,
  asset: string,
): Promise<VaultState | undefined> {
  const [tvl, idle] = await Promise.all([
    reader.read(vault.totalAssets, address),
    reader.read(token.balanceOf, asset, address),
  ]);
  if (tvl === undefined) return undefined;
  return { tvl, liquidity: idle !== undefined && idle >= tvl ? tvl : undefined, rate: undefined };
}
