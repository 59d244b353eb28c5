import Type, { type Static } from 'typebox';
import { nativeAsset, tokenAssets } from '../../chains/assets.ts';
import { toChecksum } from '../../chains/ethereum/address.ts';
import type { EvmLog, EvmNode, EvmReceipt, EvmTransaction, Hex } from '../../chains/nodes/node.ts';
import type { ChainAsset } from '../../chains/settings.ts';
import { DisplayShape } from '../../chains/shapes.ts';
import { ActivityReader } from '../../core/store/activity-reader.ts';
import type { QueryContext } from '../../engine/define.ts';
import { formatUnits, usdOf } from '../../lib/amount.ts';
import type { HistoryEntry } from './history-scan.ts';

const AssetShape = Type.Object({
  caip19: Type.String(),
  symbol: Type.String(),
  name: Type.String(),
  decimals: Type.Integer(),
});

const TransferShape = Type.Object({
  direction: Type.Enum(['IN', 'OUT']),
  asset: AssetShape,
  amount: Type.String(),
  counterparty: Type.String(),
  display: DisplayShape,
});

const SentShape = Type.Object({
  sponsored: Type.Boolean(),
  activityFingerprint: Type.Optional(Type.String()),
  submittedAt: Type.Optional(Type.String()),
});

export const HistoryItemShape = Type.Object({
  transactionHash: Type.String(),
  block: Type.Object({ number: Type.String(), hash: Type.String(), timestamp: Type.String() }),
  status: Type.Enum(['CONFIRMED', 'FINALIZED']),
  origin: Type.String(),
  from: Type.String(),
  to: Type.Optional(Type.String()),
  fee: Type.Object({ amount: Type.String(), caip19: Type.String() }),
  transfers: Type.Array(TransferShape),
  turnkey: Type.Optional(SentShape),
  executionFailed: Type.Optional(Type.Boolean()),
});
type HistoryItem = Static<typeof HistoryItemShape>;

interface Transfer {
  readonly asset: ChainAsset;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** Where a chain has its point of no return, and whom the history is about. */
export interface HistoryView {
  readonly node: EvmNode;
  readonly address: Hex;
  /** The newest block that stays. */
  readonly finalized: bigint;
}

export async function toHistoryItem(
  context: QueryContext,
  { node, address, finalized }: HistoryView,
  entry: HistoryEntry,
): Promise<HistoryItem> {
  const { hash, block, send } = entry;
  const [receipt, transaction] = await Promise.all([node.receipt(hash), node.transaction(hash)]);
  const native = nativeAsset(node.chain);
  const to = receipt?.to ?? transaction?.to;
  const transfers = receipt?.isSuccess === false ? [] : transfersOf(node, address, entry, transaction);
  return {
    transactionHash: hash,
    block: {
      number: String(block.number),
      hash: block.hash,
      timestamp: new Date(block.timestamp * 1000).toISOString(),
    },
    status: block.number <= finalized ? 'FINALIZED' : 'CONFIRMED',
    ...(await originOf(context, entry)),
    from: toChecksum(receipt?.from ?? transaction?.from ?? send?.lane ?? address),
    ...(to !== undefined && { to: toChecksum(to) }),
    fee: { amount: feeOf(receipt, entry), caip19: native.caip19 },
    transfers: await Promise.all(transfers.map((transfer) => shown(context, node, address, transfer))),
    ...(receipt !== undefined && { executionFailed: !receipt.isSuccess }),
  };
}

/** Empty where nobody tells. */
const feeOf = (receipt: EvmReceipt | undefined, { send }: HistoryEntry): string =>
  receipt === undefined ? (send?.block?.fee ?? '') : String(receipt.gasUsed * receipt.effectiveGasPrice);

async function originOf(
  { read, actor, config }: QueryContext,
  { send }: HistoryEntry,
): Promise<Pick<HistoryItem, 'origin' | 'turnkey'>> {
  if (send === undefined) return { origin: 'EXTERNAL' };
  if (!config.vendorNames) return { origin: 'CUSTOS' };
  const found = await read(ActivityReader).find(actor.organizationId, send.activityId);
  const { request } = send;
  return {
    origin: 'TURNKEY',
    turnkey: {
      sponsored: request.kind === 'ethereum' && request.sponsored !== undefined,
      ...(found && { activityFingerprint: found.activity.fingerprint }),
      submittedAt: new Date(send.createdAtMs).toISOString(),
    },
  };
}

/** What moved from or to the address: the native asset as it was sent, and tokens as their contracts tell. */
function transfersOf(
  { chain }: EvmNode,
  address: Hex,
  { logs, send }: HistoryEntry,
  transaction: EvmTransaction | undefined,
): Transfer[] {
  const asset = nativeAsset(chain);
  const tokens = tokenAssets(chain);
  const calls =
    send?.request.kind === 'ethereum'
      ? send.request.calls.map(({ to, value }) => ({ from: send.sender, to, amount: BigInt(value) }))
      : transaction === undefined
        ? []
        : [{ from: transaction.from, to: transaction.to ?? '', amount: transaction.value }];
  const moved = calls
    .filter(({ from, to, amount }) => amount > 0n && (from === address || to === address))
    .map((call) => ({ asset, ...call }));
  return [...moved, ...logs.flatMap((log) => tokenTransfer(tokens.get(log.address), log))];
}

function tokenTransfer(asset: ChainAsset | undefined, { topics, data }: EvmLog): Transfer[] {
  const [, from = '', to = ''] = topics.map((topic) => `0x${topic.slice(-40)}`);
  if (asset === undefined || data.length !== 2 + 64) return [];
  return [{ asset, from, to, amount: BigInt(data) }];
}

async function shown(
  { earn }: QueryContext,
  { chain }: EvmNode,
  address: Hex,
  { asset, from, to, amount }: Transfer,
): Promise<Static<typeof TransferShape>> {
  const { caip19, symbol, name, decimals } = asset;
  const isOut = from === address;
  const counterparty = isOut ? to : from;
  return {
    direction: isOut ? 'OUT' : 'IN',
    asset: { caip19, symbol, name, decimals },
    amount: String(amount),
    // A transaction that creates a contract names no receiver.
    counterparty: counterparty === '' ? '' : toChecksum(counterparty),
    display: { crypto: formatUnits(amount, decimals), usd: usdOf(amount, decimals, await earn.priceOf(chain, caip19)) },
  };
}
