import type { EvmNode } from '../../chains/nodes/node.ts';
import { createContractReader } from './contract-reader.ts';
import type { EarnWrapper } from './model.ts';
import { splitter, token, vault } from './views.ts';

/** What a wallet has in a wrapper, in the smallest unit of the asset and net of the wrapper's fee. */
export interface WrapperPosition {
  readonly wrapper: EarnWrapper;
  /** Undefined where there is no contract that tells. */
  readonly shares: bigint | undefined;
  /** Undefined where the vault beneath does not tell what the shares are worth. */
  readonly value: bigint | undefined;
}

/** The positions of a wallet in wrappers of one chain; those known to be without shares are left out. */
export async function readPositions(
  node: EvmNode,
  wrappers: readonly EarnWrapper[],
  wallet: string,
): Promise<readonly WrapperPosition[]> {
  const reader = createContractReader(node);
  const positions = await Promise.all(
    wrappers.map(async (wrapper): Promise<WrapperPosition | undefined> => {
      const { wrapperAddress } = wrapper;
      const shares = await reader.read(token.balanceOf, wrapperAddress, wallet);
      if (shares === 0n) return undefined;
      const value = shares && (await reader.read(vault.convertToAssets, wrapperAddress, shares));
      return { wrapper, shares, value };
    }),
  );
  return positions.filter((position) => position !== undefined);
}

/** Undefined where there is no contract yet. */
export interface WrapperState {
  readonly totalAssets: bigint | undefined;
  /** Of the client, in the smallest unit of the asset. */
  readonly claimable: bigint | undefined;
}

export async function readWrappers(node: EvmNode, wrappers: readonly EarnWrapper[]): Promise<readonly WrapperState[]> {
  const reader = createContractReader(node);
  return await Promise.all(
    wrappers.map(async ({ wrapperAddress, splitterAddress, clientFeeWallet }) => {
      const [totalAssets, shares] = await Promise.all([
        reader.read(vault.totalAssets, wrapperAddress),
        reader.read(splitter.releasable, splitterAddress, wrapperAddress, clientFeeWallet),
      ]);
      const claimable =
        shares === undefined ? undefined : await reader.read(vault.convertToAssets, wrapperAddress, shares);
      return { totalAssets, claimable };
    }),
  );
}
