import Type, { type Static } from 'typebox';
import { isEthereumAddress, toChecksum } from '../../../chains/ethereum/address.ts';
import { withdrawnIn } from '../../../chains/ethereum/send/withdrawn.ts';
import type { Hex } from '../../../chains/nodes/node.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { groupBy } from '../../../lib/collections.ts';
import { pageOfList } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { assetValues } from '../asset-values.ts';
import { holdersOf, WalletAddressShape } from '../holders.ts';
import type { EarnTotals, EarnWrapper } from '../model.ts';
import { EarnPositionShape } from '../shapes.ts';
import { EarnReader } from '../store.ts';
import { readPositions, type WrapperPosition } from '../wrapper.ts';
import { accountOf, managerOf } from '../wrappers.ts';

/** Receipts that are asked for where nobody noted what a withdrawal paid; with more of them the total is not told. */
const UNREAD_MAX = 50;

export const listEarnPositions = defineQuery({
  name: 'list_earn_positions',
  summary:
    "What a wallet of the organization or of its sub-organizations has in fee wrappers, its own or its parent's, on the configured chains.",
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    walletAddress: WalletAddressShape,
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ positions: Type.Array(EarnPositionShape), pageInfo: PageInfoShape }),
  async run(context, { walletAddress, paginationOptions }) {
    const { read, actor, config, nodes } = context;
    const wallet = walletAddress.toLowerCase();
    const holders = isEthereumAddress(wallet) ? await holdersOf(context, wallet) : [];
    const known = holders.length === 0 ? [] : await read(EarnReader).wrappers(managerOf(actor.organization));
    const wrappers = groupBy(known, ({ caip2 }) => caip2);
    const served = [...wrappers].filter(([caip2]) => config.chains.has(caip2));
    const found = await Promise.all(served.map(([caip2, some]) => readPositions(nodes.evm(caip2), some, wallet)));
    const totals = await read(EarnReader).totals(holders, wallet);
    // A wrapper that does not tell is one that is not there yet, unless something was put into it.
    const held = found
      .flat()
      .map(({ wrapper, shares, value }) => ({ wrapper, shares, value, totals: totalsOf(totals, wrapper) }))
      .filter((position) => position.shares !== undefined || position.totals.deposited > 0n);
    const { items, pageInfo } = pageOfList(held, paginationOptions, config.listMax, ({ wrapper }) =>
      accountOf(wrapper),
    );
    return { positions: await Promise.all(items.map((position) => render(context, position, wallet))), pageInfo };
  },
});

const NOTHING = { deposited: 0n, withdrawn: 0n, unread: [] };

type Totals = Pick<EarnTotals, 'deposited' | 'withdrawn' | 'unread'>;

const totalsOf = (totals: readonly EarnTotals[], { caip2, wrapperAddress }: EarnWrapper): Totals =>
  totals.find((one) => one.caip2 === caip2 && one.wrapperAddress === wrapperAddress) ?? NOTHING;

/** Undefined where the chain does not tell any more what one of the withdrawals paid. */
async function withdrawnOf(
  { nodes }: QueryContext,
  { caip2, wrapperAddress }: EarnWrapper,
  wallet: string,
  { withdrawn, unread }: Totals,
): Promise<bigint | undefined> {
  if (unread.length > UNREAD_MAX) return undefined;
  const node = nodes.evm(caip2);
  const receipts = await Promise.all(unread.map((hash) => (hash === '' ? undefined : node.receipt(hash as Hex))));
  let total = withdrawn;
  for (const receipt of receipts) {
    if (receipt === undefined) return undefined;
    total += withdrawnIn(receipt.logs, wrapperAddress, wallet);
  }
  return total;
}

async function render(
  context: QueryContext,
  { wrapper, value, totals }: WrapperPosition & { readonly totals: Totals },
  wallet: string,
): Promise<Static<typeof EarnPositionShape>> {
  const { caip2, wrapperAddress, provider } = wrapper;
  const { caip19, display } = await assetValues(context, context.config.chains.get(caip2), wrapper);
  const { deposited } = totals;
  const withdrawn = await withdrawnOf(context, wrapper, wallet, totals);
  const [current, put, taken] = [display(value), display(deposited), display(withdrawn)];
  return {
    vaultAddress: toChecksum(wrapper.vaultAddress),
    wrapperAddress: toChecksum(wrapperAddress),
    ...(provider && { provider }),
    caip19,
    currentValue: text(value),
    totalDeposited: text(deposited),
    totalWithdrawn: text(withdrawn),
    display: {
      currentValueUsd: current.usd,
      totalDepositedUsd: put.usd,
      totalWithdrawnUsd: taken.usd,
      currentValueCrypto: current.crypto,
      totalDepositedCrypto: put.crypto,
      totalWithdrawnCrypto: taken.crypto,
    },
    depositsDisabled: wrapper.depositsDisabled,
  };
}

/** Empty for what nobody tells. */
const text = (amount: bigint | undefined): string => (amount === undefined ? '' : String(amount));
