import Type, { type Static } from 'typebox';
import { isEthereumAddress, toChecksum } from '../../../chains/ethereum/address.ts';
import { EthereumAddressShape } from '../../../chains/shapes.ts';
import { defineQuery, type QueryContext } from '../../../engine/define.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { groupBy } from '../../../lib/collections.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { assetValues } from '../asset-values.ts';
import { holdersOf, WalletAddressShape } from '../holders.ts';
import type { EarnMovement, EarnWrapper } from '../model.ts';
import { EarnReader } from '../store.ts';
import { readPositions } from '../wrapper.ts';
import { accountOf, managerOf } from '../wrappers.ts';

/** So many deposits and withdrawals of a wallet are added up, and so many points are shown, the newest ones. */
const MOVEMENTS_MAX = 10_000;
const POINTS_MAX = 1000;

const text = Type.Optional(Type.String());

const PointShape = Type.Object({
  caip2: Type.String(),
  vaultAddress: Type.String(),
  wrapperAddress: Type.String(),
  /** Of the wallet. */
  address: Type.String(),
  caip19: Type.String(),
  at: Type.String(),
  kind: Type.Enum(['DEPOSIT', 'WITHDRAWAL', 'NOW']),
  /** Of the deposit or withdrawal; absent where nobody noted what a withdrawal of everything paid. */
  amount: text,
  /** Everything put in less everything taken out up to then; below zero once more was taken out. Absent where unknown. */
  principal: text,
  /** What the shares are worth: now only, as no past value is stored. Absent while no node tells. */
  assets: text,
  txHash: text,
});
type Point = Static<typeof PointShape>;

export const listEarnPositionHistory = defineQuery({
  name: 'list_earn_position_history',
  ours: true,
  summary:
    'What a wallet put into fee wrappers and took out of them over time, and what its positions are worth now; oldest first.',
  waitsOutside: true,
  parameters: Type.Object({
    organizationId: IdShape,
    walletAddress: WalletAddressShape,
    wrapperAddress: Type.Optional(EthereumAddressShape),
  }),
  response: Type.Object({
    points: Type.Array(PointShape),
    /** There are older ones. */
    isPartial: Type.Optional(Type.Boolean()),
  }),
  async run(context, { walletAddress, wrapperAddress }) {
    const { read, actor } = context;
    const wallet = walletAddress.toLowerCase();
    const holders = isEthereumAddress(wallet) ? await holdersOf(context, wallet) : [];
    const movements = await read(EarnReader).movements(holders, wallet, MOVEMENTS_MAX + 1);
    const isCut = movements.length > MOVEMENTS_MAX;
    const known = movements.length === 0 ? [] : await read(EarnReader).wrappers(managerOf(actor.organization));
    const wanted = wrapperAddress?.toLowerCase();
    const moved = groupBy(movements.slice(isCut ? 1 : 0), (movement) => accountOf(movement));
    const used = known.filter(
      (wrapper) => moved.has(accountOf(wrapper)) && (wanted === undefined || wrapper.wrapperAddress === wanted),
    );
    const values = await valuesNow(context, used, wallet);
    const lines = await Promise.all(
      used.map((wrapper) => pointsOf(context, wrapper, wallet, moved.get(accountOf(wrapper)) ?? [], values, isCut)),
    );
    const points = lines.flat().sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
    const isPartial = isCut || points.length > POINTS_MAX;
    return { points: points.slice(-POINTS_MAX), ...(isPartial && { isPartial }) };
  },
});

/** What each position is worth, by wrapper. A chain that does not answer leaves its positions without. */
async function valuesNow(
  { nodes, config }: QueryContext,
  wrappers: readonly EarnWrapper[],
  wallet: string,
): Promise<ReadonlyMap<string, bigint>> {
  const chains = [...groupBy(wrappers, ({ caip2 }) => caip2)].filter(([caip2]) => config.chains.has(caip2));
  const values = new Map<string, bigint>();
  await Promise.all(
    chains.map(async ([caip2, some]) => {
      const positions = await readPositions(nodes.evm(caip2), some, wallet).catch(() => undefined);
      if (positions === undefined) return;
      // Those without shares are left out, and worth nothing.
      for (const wrapper of some) values.set(accountOf(wrapper), 0n);
      for (const { wrapper, value } of positions) {
        if (value === undefined) values.delete(accountOf(wrapper));
        else values.set(accountOf(wrapper), value);
      }
    }),
  );
  return values;
}

async function pointsOf(
  context: QueryContext,
  wrapper: EarnWrapper,
  wallet: string,
  movements: readonly EarnMovement[],
  values: ReadonlyMap<string, bigint>,
  isCut: boolean,
): Promise<Point[]> {
  const { caip19 } = await assetValues(context, context.config.chains.get(wrapper.caip2), wrapper);
  const place = {
    caip2: wrapper.caip2,
    vaultAddress: toChecksum(wrapper.vaultAddress),
    wrapperAddress: toChecksum(wrapper.wrapperAddress),
    address: toChecksum(wallet),
    caip19,
  };
  // Without the oldest ones, or an amount in between, nobody knows what is left.
  let principal: bigint | undefined = isCut ? undefined : 0n;
  const points = [...movements]
    .sort((one, other) => one.atMs - other.atMs)
    .map(({ kind, amount, atMs, txHash }): Point => {
      if (principal !== undefined && amount !== undefined) principal += kind === 'deposit' ? amount : -amount;
      else principal = undefined;
      return {
        ...place,
        at: toRfc3339(atMs),
        kind: kind === 'deposit' ? 'DEPOSIT' : 'WITHDRAWAL',
        ...(amount !== undefined && { amount: String(amount) }),
        ...(principal !== undefined && { principal: String(principal) }),
        ...(txHash !== undefined && { txHash }),
      };
    });
  const assets = values.get(accountOf(wrapper));
  const now: Point = {
    ...place,
    at: toRfc3339(context.nowMs),
    kind: 'NOW',
    ...(principal !== undefined && { principal: String(principal) }),
    ...(assets !== undefined && { assets: String(assets) }),
  };
  return [...points, now];
}
