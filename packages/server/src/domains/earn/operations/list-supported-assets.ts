import Type from 'typebox';
import { nativeAsset, tokenAssets } from '../../../chains/assets.ts';
import { configuredChain, networkOf } from '../../../chains/networks.ts';
import { ChainShape } from '../../../chains/shapes.ts';
import { defineQuery } from '../../../engine/define.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { EARN_PROVIDERS } from '../model.ts';

export const listSupportedAssets = defineQuery({
  name: 'list_supported_assets',
  summary: 'The assets of a chain that the operator has configured, its native one first.',
  parameters: Type.Object({
    organizationId: IdShape,
    caip2: ChainShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({
    assets: Type.Array(
      Type.Object({
        caip19: Type.String(),
        symbol: Type.String(),
        name: Type.String(),
        decimals: Type.Integer(),
        logoUrl: Type.Optional(Type.String()),
        stable: Type.Optional(Type.Boolean()),
        earnProviders: Type.Array(Type.Enum([...EARN_PROVIDERS])),
      }),
    ),
    pageInfo: PageInfoShape,
  }),
  async run({ config, earn }, { caip2, paginationOptions }) {
    const chain = configuredChain(config.chains, caip2);
    const { hasVaults } = networkOf(chain.caip2);
    const tokens = [...tokenAssets(chain)].map(([address, asset]) => ({
      ...asset,
      earnProviders: hasVaults ? [...earn.providersOf(chain, address)] : [],
    }));
    const assets = [{ ...nativeAsset(chain), earnProviders: [] }, ...tokens];
    const { items, pageInfo } = pageOfList(assets, paginationOptions, config.listMax, ({ caip19 }) => caip19);
    return { assets: [...items], pageInfo };
  },
});
