import type { Nodes } from '../../chains/nodes/node.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { Clock } from '../../lib/clock.ts';
import { readCatalog, readExposures, readOneVault } from './catalog.ts';
import type { CatalogVault, Earn, VaultExposure } from './earn.ts';
import { createFactoryScans } from './factory-scan.ts';
import { createGrowth } from './growth.ts';
import { EARN_PROVIDERS } from './model.ts';
import { createPrices } from './prices.ts';
import { createRefreshed } from './refreshed.ts';

const CATALOGS_MAX = 200;
const VAULTS_MAX = 2_000;

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
  const vaults = createRefreshed<CatalogVault | undefined>({ entriesMax: VAULTS_MAX, clock, report: observe });
  const exposures = createRefreshed<readonly VaultExposure[]>({ entriesMax: VAULTS_MAX, clock, report: observe });
  const prices = createPrices(nodes, clock, observe);
  const readVault = async ({ caip2 }: ChainSettings, address: string): Promise<CatalogVault | undefined> =>
    await readOneVault(nodes.evm(caip2), address.toLowerCase(), parts);

  return {
    async vaults({ caip2 }, assetAddress) {
      const asset = assetAddress.toLowerCase();
      return await catalogs.get(caip2, asset, () => readCatalog(nodes.evm(caip2), asset, parts));
    },
    vault: readVault,
    knownVault: async (chain, vaultAddress) =>
      await vaults.get(chain.caip2, vaultAddress.toLowerCase(), () => readVault(chain, vaultAddress)),
    async exposures({ caip2 }, vaultAddress) {
      const vault = vaultAddress.toLowerCase();
      return await exposures.get(caip2, vault, () => readExposures(nodes.evm(caip2), vault, parts));
    },
    providersOf({ caip2 }, assetAddress) {
      const known = catalogs.peek(caip2, assetAddress.toLowerCase()) ?? [];
      return EARN_PROVIDERS.filter((provider) => known.some((vault) => vault.provider === provider));
    },
    priceOf: prices.of,
    close() {
      catalogs.close();
      vaults.close();
      exposures.close();
      prices.close();
    },
  };
}
