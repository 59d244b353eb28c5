import type { ChainSettings } from '../lib/chain.ts';
import type { Clock } from '../lib/clock.ts';
import { EARN_PROVIDERS } from '../lib/earn.ts';
import type { Nodes } from '../nodes/node.ts';
import { readCatalog, readExposures, readOneVault } from './catalog.ts';
import type { CatalogVault, Earn } from './earn.ts';
import { createFactoryScans } from './factory-scan.ts';
import { createGrowth } from './growth.ts';
import { createPrices } from './prices.ts';
import { createRefreshed } from './refreshed.ts';

const CATALOGS_MAX = 200;

export interface EarnParts {
  readonly nodes: Nodes;
  readonly clock: Clock;
  /** Told when something could not be read again behind everybody's back; the key names the chain and the asset. */
  readonly observe?: ((key: string, error: unknown) => void) | undefined;
}

/** What Earn reads from chains, remembered for as long as it is true enough to be shown. */
export function createEarn({ nodes, clock, observe }: EarnParts): Earn & { close(): void } {
  const parts = { scans: createFactoryScans(), growth: createGrowth(clock) };
  const catalogs = createRefreshed<readonly CatalogVault[]>({ entriesMax: CATALOGS_MAX, clock, report: observe });
  const prices = createPrices(nodes, clock, observe);
  const keyOf = ({ caip2 }: ChainSettings, assetAddress: string): string => `${caip2} ${assetAddress.toLowerCase()}`;

  return {
    async vaults(chain, assetAddress) {
      const node = nodes.evm(chain.caip2);
      return await catalogs.get(keyOf(chain, assetAddress), () => readCatalog(node, assetAddress.toLowerCase(), parts));
    },
    vault: async ({ caip2 }, vaultAddress) => await readOneVault(nodes.evm(caip2), vaultAddress.toLowerCase(), parts),
    exposures: async ({ caip2 }, vaultAddress) =>
      await readExposures(nodes.evm(caip2), vaultAddress.toLowerCase(), parts),
    providersOf(chain, assetAddress) {
      const known = catalogs.peek(keyOf(chain, assetAddress)) ?? [];
      return EARN_PROVIDERS.filter((provider) => known.some((vault) => vault.provider === provider));
    },
    priceOf: prices.of,
    close() {
      catalogs.close();
      prices.close();
    },
  };
}
