import Type from 'typebox';
import { configuredChain } from '../../lib/chain.ts';
import { EARN_PROVIDERS } from '../../lib/earn.ts';
import { pageOfList } from '../../lib/pagination.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';
import { ChainShape } from '../shapes/chain.ts';
import { nativeAsset, tokenAssets } from './assets.ts';

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
    const isEarned = chain.namespace === 'eip155';
    const tokens = [...tokenAssets(chain)].map(([address, asset]) => ({
      ...asset,
      earnProviders: isEarned ? [...earn.providersOf(chain, address)] : [],
    }));
    const assets = [{ ...nativeAsset(chain), earnProviders: [] }, ...tokens];
    const { items, pageInfo } = pageOfList(assets, paginationOptions, config.listMax, ({ caip19 }) => caip19);
    return { assets: [...items], pageInfo };
  },
});
