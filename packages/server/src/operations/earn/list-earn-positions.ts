import Type, { type Static } from 'typebox';
import { readPositions, type WrapperPosition } from '../../earn/wrapper.ts';
import { groupBy } from '../../lib/collections.ts';
import type { EarnTotals, EarnWrapper } from '../../lib/earn.ts';
import { ApiError } from '../../lib/errors.ts';
import { defineQuery, type QueryContext } from '../define.ts';
import { IdShape, textShape } from '../shapes/basic.ts';
import { isEthereumAddress, toChecksum } from '../shapes/chain.ts';
import { EarnPositionShape } from '../shapes/earn.ts';
import { assetValues } from './asset-values.ts';
import { managerOf } from './wrappers.ts';

const ADDRESS_LENGTH_MAX = 128;

/** spec 4.3. */
export const listEarnPositions = defineQuery({
  name: 'list_earn_positions',
  summary: "What a wallet of the organization has in fee wrappers, its own or its parent's, on the configured chains.",
  parameters: Type.Object({ organizationId: IdShape, walletAddress: textShape(ADDRESS_LENGTH_MAX) }),
  response: Type.Object({ positions: Type.Array(EarnPositionShape) }),
  async run(context, { walletAddress }) {
    const { read, actor, config, nodes } = context;
    const wallet = walletAddress.toLowerCase();
    await requireOwn(context, wallet);
    const wrappers = groupBy(await read.earn.wrappers(managerOf(actor.organization)), ({ caip2 }) => caip2);
    const served = [...wrappers].filter(([caip2]) => config.chains.has(caip2));
    const found = await Promise.all(served.map(([caip2, some]) => readPositions(nodes.evm(caip2), some, wallet)));
    const totals = await read.earn.totals(actor.organizationId, wallet);
    // A wrapper that does not tell is one that is not there yet, unless something was put into it.
    const held = found
      .flat()
      .map(({ wrapper, shares, value }) => ({ wrapper, shares, value, totals: totalsOf(totals, wrapper) }))
      .filter((position) => position.shares !== undefined || position.totals.deposited > 0n);
    return { positions: await Promise.all(held.map((position) => render(context, position))) };
  },
});

async function requireOwn({ read, actor }: QueryContext, wallet: string): Promise<void> {
  const { organizationId } = actor;
  if (isEthereumAddress(wallet)) {
    const [account] = await read.wallets.accountsByAddress(organizationId, wallet);
    if (account !== undefined || (await read.privateKeys.byAddress(organizationId, wallet)) !== undefined) return;
  }
  throw new ApiError('RESOURCE_NOT_FOUND', 'walletAddress is not an Ethereum address of this organization');
}

type Totals = Pick<EarnTotals, 'deposited' | 'withdrawn'>;

const totalsOf = (totals: readonly EarnTotals[], { caip2, wrapperAddress }: EarnWrapper): Totals =>
  totals.find((one) => one.caip2 === caip2 && one.wrapperAddress === wrapperAddress) ?? {
    deposited: 0n,
    withdrawn: 0n,
  };

/** spec 2.9. */
async function render(
  context: QueryContext,
  { wrapper, value, totals }: WrapperPosition & { readonly totals: Totals },
): Promise<Static<typeof EarnPositionShape>> {
  const { caip2, wrapperAddress } = wrapper;
  const { caip19, display } = await assetValues(context, context.config.chains.get(caip2), wrapper);
  const { deposited, withdrawn } = totals;
  const [current, put, taken] = [display(value), display(deposited), display(withdrawn)];
  return {
    vaultAddress: toChecksum(wrapper.vaultAddress),
    wrapperAddress: toChecksum(wrapperAddress),
    provider: wrapper.provider,
    caip19,
    currentValue: value === undefined ? '' : String(value),
    totalDeposited: String(deposited),
    totalWithdrawn: String(withdrawn),
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
