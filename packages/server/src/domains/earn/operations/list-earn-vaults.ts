import Type, { type Static } from 'typebox';
import { toChecksum } from '../../../chains/ethereum/address.ts';
import { ethereumNetwork } from '../../../chains/ethereum/network.ts';
import { configuredChain } from '../../../chains/networks.ts';
import { OrganizationReader } from '../../../core/store/organizations.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { type AssetValues, assetValues, isWorth } from '../asset-values.ts';
import { earnConfigOf } from '../config.ts';
import type { CatalogVault } from '../earn.ts';
import { EarnProviderFilterShape, EarnVaultShape, isAsked, TokenCaip19Shape, tokenOf } from '../shapes.ts';
import { EarnReader } from '../store.ts';
import { pageOf } from '../vault-page.ts';
import { deploymentOf, managerOf } from '../wrappers.ts';

export const listEarnVaults = defineQuery({
  name: 'list_earn_vaults',
  summary: 'Vaults of an asset that take deposits, by value descending, and whether the organization has enabled them.',
  waitsOutside: true,
  example: { caip19: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' },
  parameters: Type.Object({
    organizationId: IdShape,
    caip19: TokenCaip19Shape,
    provider: Type.Optional(EarnProviderFilterShape),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ vaults: Type.Array(EarnVaultShape), pageInfo: PageInfoShape }),
  async run(context, { caip19, provider, paginationOptions }) {
    const { config, earn } = context;
    const { caip2, assetAddress } = tokenOf(caip19);
    const chain = configuredChain(config.chains, caip2, ethereumNetwork);
    const minTvlUsd = await leastValue(context);
    const found = (await earn.vaults(chain, assetAddress)).filter((vault) => isAsked(vault.provider, provider));
    const [first] = found;
    const values = await assetValues(context, chain, { caip2, assetAddress, assetDecimals: first?.assetDecimals ?? 0 });
    const shown = found.filter(({ tvl }) => isWorth(values, tvl, minTvlUsd));
    const { items, pageInfo } = pageOf(shown, paginationOptions);
    const enabled = await enabledAmong(context, items);
    return { vaults: items.map((vault) => render(vault, values, enabled.has(vault.vaultAddress))), pageInfo };
  },
});

async function leastValue({ read, actor }: QueryContext): Promise<string | undefined> {
  const value = await read(OrganizationReader).feature(managerOf(actor.organization), 'FEATURE_NAME_EARN_CONFIG');
  return earnConfigOf(value).minTvlUsd;
}

/** Those with a wrapper that is on the chain, or on its way (protocol/earn 2.5). */
async function enabledAmong(
  { read, actor }: QueryContext,
  vaults: readonly CatalogVault[],
): Promise<ReadonlySet<string>> {
  const enabled = new Set<string>();
  for (const wrapper of await read(EarnReader).wrappers(managerOf(actor.organization))) {
    const isListed = vaults.some(
      ({ caip2, vaultAddress }) => caip2 === wrapper.caip2 && vaultAddress === wrapper.vaultAddress,
    );
    if (!isListed || enabled.has(wrapper.vaultAddress)) continue;
    const { state } = await deploymentOf(read, wrapper);
    if (state !== 'FAILED') enabled.add(wrapper.vaultAddress);
  }
  return enabled;
}

const render = (
  vault: CatalogVault,
  { caip19, display }: AssetValues,
  enabled: boolean,
): Static<typeof EarnVaultShape> => ({
  vaultAddress: toChecksum(vault.vaultAddress),
  ...(vault.provider && { provider: vault.provider }),
  caip19,
  tvl: String(vault.tvl),
  apyPct: vault.apy,
  enabled,
  display: display(vault.tvl),
  name: vault.name,
  curator: vault.curator,
  liquidity: vault.liquidity === undefined ? '' : String(vault.liquidity),
  liquidityDisplay: display(vault.liquidity),
});
