import { TOKEN } from '../chain/earn-chain.ts';
import { type Build, byRoot } from './case.ts';
import type { Outside } from './outside.ts';

/** The token that vaults of the chain of the tests hold. */
export const vaultAsset = ({ ethereum }: Outside): string => `${ethereum.caip2}/erc20:${TOKEN}`;

const PROVIDER = 'EARN_PROVIDER_MORPHO';

export const EARN_LIST_CASES: Readonly<Record<string, Build>> = {
  list_earn_vaults: byRoot(({ outside }) => ({ caip19: vaultAsset(outside), provider: PROVIDER })),
  list_earn_positions: byRoot(({ ids }) => ({ walletAddress: ids.address })),
  list_earn_enabled_vaults: byRoot(({ outside }) => ({
    caip19: vaultAsset(outside),
    provider: PROVIDER,
    includeExposure: true,
  })),
};
