import Type from 'typebox';
import { nativeAsset } from '../../../chains/assets.ts';
import { networkOf } from '../../../chains/networks.ts';
import type { ChainSettings } from '../../../chains/settings.ts';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';

export const listChains = defineQuery({
  name: 'list_chains',
  ours: true,
  summary: 'The chains that the operator has configured, with their native assets and what they are set up for.',
  parameters: Type.Object({ organizationId: IdShape }),
  response: Type.Object({
    chains: Type.Array(
      Type.Object({
        caip2: Type.String(),
        nativeAsset: Type.Object({
          caip19: Type.String(),
          symbol: Type.String(),
          name: Type.String(),
          decimals: Type.Integer(),
        }),
        /** Several calls go into one transaction. */
        batches: Type.Boolean(),
        /** The operator can pay fees. */
        sponsors: Type.Boolean(),
        /** Vaults of Earn can be found. */
        hasVaults: Type.Boolean(),
      }),
    ),
  }),
  run: async ({ config }) => ({ chains: [...config.chains.values()].map(render) }),
});

function render(chain: ChainSettings) {
  const { caip19, symbol, name, decimals } = nativeAsset(chain);
  const vaultSources = [chain.aavePoolAddressesProvider ?? [], chain.morphoFactories, chain.vaults].flat();
  return {
    caip2: chain.caip2,
    nativeAsset: { caip19, symbol, name, decimals },
    batches: chain.batchContract !== undefined,
    sponsors: chain.operatorAddress !== undefined,
    hasVaults: networkOf(chain.caip2).hasVaults && vaultSources.length > 0,
  };
}
