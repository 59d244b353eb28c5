import type { Nodes } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { readOraclePrice } from './aave.ts';
import { createContractReader } from './contract-reader.ts';
import { createRefreshed, type RefreshedOptions } from './refreshed.ts';

const PRICES_MAX = 5_000;

export interface Prices {
  /**
   * US dollars for one whole unit: by the oracle of Aave where it has the asset, else as configured
   * (protocol/earn 3.3).
   */
  of(chain: ChainSettings, caip19: string): Promise<string | undefined>;
  close(): void;
}

export function createPrices(nodes: Nodes, clock: Clock, report?: RefreshedOptions['report']): Prices {
  const known = createRefreshed<string | undefined>({ entriesMax: PRICES_MAX, clock, report });
  return {
    async of(chain, caip19) {
      const configured = chain.prices.get(caip19.toLowerCase());
      const provider = chain.aavePoolAddressesProvider;
      const asset = /\/erc20:(0x[0-9a-f]{40})$/.exec(caip19.toLowerCase())?.[1];
      if (provider === undefined || asset === undefined) return configured;
      try {
        const price = await known.get(chain.caip2, asset, () =>
          readOraclePrice(createContractReader(nodes.evm(chain.caip2)), provider, asset),
        );
        return price ?? configured;
      } catch (error) {
        // It is shown and never counted with, so that a list is not withheld for it, nor because many are asked for.
        if (error instanceof NodeError || (error instanceof ApiError && error.code === 'UNAVAILABLE'))
          return configured;
        throw error;
      }
    },
    close: known.close,
  };
}
