import Type, { type Static } from 'typebox';
import type { Balance } from '../../../chains/chain.ts';
import { serviceOf } from '../../../chains/index.ts';
import { configuredChain, networkOf } from '../../../chains/networks.ts';
import type { ChainSettings } from '../../../chains/settings.ts';
import { ChainShape, DisplayShape } from '../../../chains/shapes.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { formatUnits, usdOf } from '../../../lib/amount.ts';
import { invalidField } from '../../../lib/errors.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape, textShape } from '../../../lib/shapes.ts';

const ADDRESS_LENGTH_MAX = 64;

const BalanceShape = Type.Object({
  caip19: Type.String(),
  symbol: Type.String(),
  name: Type.String(),
  balance: Type.String(),
  decimals: Type.Integer(),
  display: DisplayShape,
  tokenProgram: Type.Optional(Type.String()),
});

export const getWalletAddressBalances = defineQuery({
  name: 'get_wallet_address_balances',
  summary: 'What an address holds on a chain: its native asset, and of the configured ones those that it has any of.',
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    address: textShape(ADDRESS_LENGTH_MAX),
    caip2: ChainShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ balances: Type.Array(BalanceShape), pageInfo: PageInfoShape }),
  async run(context, { address, caip2, paginationOptions }) {
    const chain = configuredChain(context.config.chains, caip2);
    const balances = await balancesOn(context, chain, address);
    const { items, pageInfo } = pageOfList(
      balances,
      paginationOptions,
      context.config.listMax,
      ({ asset }) => asset.caip19,
    );
    return { balances: await Promise.all(items.map((balance) => shown(context, chain, balance))), pageInfo };
  },
});

async function balancesOn({ nodes }: QueryContext, { caip2 }: ChainSettings, address: string) {
  const { address: rules } = networkOf(caip2);
  if (!rules.isAddress(address)) throw invalidField('address', rules.expected);
  return await serviceOf(caip2).balances(nodes, caip2, rules.canonical(address));
}

async function shown(
  { earn }: QueryContext,
  chain: ChainSettings,
  { asset, amount, tokenProgram }: Balance,
): Promise<Static<typeof BalanceShape>> {
  const { caip19, symbol, name, decimals } = asset;
  const price = await earn.priceOf(chain, caip19);
  return {
    caip19,
    symbol,
    name,
    balance: String(amount),
    decimals,
    display: { usd: usdOf(amount, decimals, price), crypto: formatUnits(amount, decimals) },
    ...(tokenProgram !== undefined && { tokenProgram }),
  };
}
