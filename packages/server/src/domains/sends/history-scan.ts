import { pad } from 'viem';
import { tokenAssets } from '../../chains/assets.ts';
import type { EvmBlock, EvmLog, EvmNode, Hex } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import type { Send } from '../../chains/send/model.ts';
import type { QueryContext } from '../../engine/define.ts';
import { groupBy } from '../../lib/collections.ts';
import { ApiError } from '../../lib/errors.ts';
import { type HistoryPage, type HistoryPlace, INDEX_MAX, isOlder } from './history-cursor.ts';
import { SendReader } from './store/sends.ts';

/** `Transfer(address,address,uint256)` of ERC-20; a token of ERC-721 has a fourth topic. */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_TOPICS = 3;
const WINDOW_BLOCKS = 5000n;
/** How often nodes are asked for logs in one request of ours. */
const WINDOWS_MAX = 20;
/** What a window is divided by when it holds more than a node answers at once. */
const WINDOW_SHRINK = 8n;
/** Read at once; more than a block has room for. */
const SENDS_MAX = 2000;

/** A transaction that an address has to do with, without its place. */
interface Found {
  readonly hash: Hex;
  readonly block: bigint;
  /** The transfers of configured tokens from or to the address. */
  readonly logs: readonly EvmLog[];
  /** Where this organization has sent it. */
  readonly send: Send | undefined;
}

export interface HistoryEntry extends Omit<Found, 'block'> {
  readonly block: EvmBlock;
  readonly place: HistoryPlace;
}

export interface Scan {
  /** Newest first. */
  readonly entries: readonly HistoryEntry[];
  /** Where to go on in the same direction; undefined at the end. */
  readonly rest: HistoryPlace | undefined;
}

/**
 * Goes back from the newest block, or back or forth from a place, until there is enough for a page. It stops earlier when
 * it has asked often enough: the page is then short, or empty, and the next one goes on from there.
 */
export async function scanHistory(
  context: QueryContext,
  node: EvmNode,
  address: Hex,
  { limit, after, before }: HistoryPage,
  head: bigint,
): Promise<Scan> {
  const isForward = before !== undefined;
  const isWanted = ({ place }: HistoryEntry): boolean =>
    before !== undefined ? isOlder(before, place) : after === undefined || isOlder(place, after);
  const inOrder = <Item>(items: Item[]): Item[] => (isForward ? items.reverse() : items);
  // Without tokens nothing is asked of nodes, and the database has all of it at once.
  const tokens = [...tokenAssets(node.chain).keys()] as Hex[];
  let size = tokens.length === 0 ? head + 1n : WINDOW_BLOCKS;
  let next = before === undefined ? newestBlock(after, head) : oldestBlock(before);
  const isInside = (): boolean => next >= 0n && next <= head;
  const entries: HistoryEntry[] = [];
  for (let asked = 0; isInside() && entries.length <= limit && asked < WINDOWS_MAX; asked++) {
    const window = isForward
      ? { from: next, to: least(next + size - 1n, head) }
      : { from: most(next - size + 1n, 0n), to: next };
    const found = await findBetween(context, node, tokens, address, window);
    if (found === 'too-much') {
      if (window.from === window.to)
        throw new ApiError('RESULT_TOO_LARGE', `block ${next} has too much of this address`);
      size = most(size / WINDOW_SHRINK, 1n);
      continue;
    }
    const groups = inOrder(byBlock(found));
    while (groups.length > 0 && entries.length <= limit) {
      const some = takeSome(groups, limit + 1 - entries.length);
      entries.push(...inOrder(await placed(node, some)).filter(isWanted));
    }
    next = isForward ? window.to + 1n : window.from - 1n;
  }
  const shown = entries.slice(0, limit);
  const stopped = isForward ? { block: next - 1n, index: INDEX_MAX } : { block: next + 1n, index: 0 };
  const rest = entries.length > limit ? shown.at(-1)?.place : isInside() ? stopped : undefined;
  return { entries: inOrder(shown), rest };
}

function newestBlock(after: HistoryPlace | undefined, head: bigint): bigint {
  if (after === undefined || after.block > head) return head;
  return after.index === 0 ? after.block - 1n : after.block;
}

const oldestBlock = ({ block, index }: HistoryPlace): bigint => (index === INDEX_MAX ? block + 1n : block);

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);

interface Window {
  readonly from: bigint;
  readonly to: bigint;
}

/** All that the address has to do with in these blocks, or word that they are too many at once. */
async function findBetween(
  context: QueryContext,
  node: EvmNode,
  tokens: readonly Hex[],
  address: Hex,
  window: Window,
): Promise<readonly Found[] | 'too-much'> {
  try {
    const [sends, transfers] = await Promise.all([
      sendsBetween(context, node, address, window),
      tokens.length === 0 ? [] : transfersBetween(node, tokens, address, window),
    ]);
    return sends === 'too-much' ? sends : [...sends, ...transfers];
  } catch (error) {
    if (error instanceof NodeError && error.kind === 'too-large') return 'too-much';
    throw error;
  }
}

/** What this organization has sent from the address. */
async function sendsBetween(
  { read, actor }: QueryContext,
  { chain }: EvmNode,
  address: Hex,
  { from, to }: Window,
): Promise<readonly Found[] | 'too-much'> {
  const blocks = { from: Number(from), to: Number(to) };
  const sends = await read(SendReader).included(actor.organizationId, chain.caip2, address, blocks, SENDS_MAX);
  if (sends.length === SENDS_MAX) return 'too-much';
  return sends.flatMap((send): Found[] =>
    send.block === undefined || send.txHash === undefined
      ? []
      : [{ hash: send.txHash as Hex, block: BigInt(send.block.number), logs: [], send }],
  );
}

async function transfersBetween(
  node: EvmNode,
  tokens: readonly Hex[],
  address: Hex,
  { from: fromBlock, to: toBlock }: Window,
): Promise<readonly Found[]> {
  const topic = pad(address);
  const logs = await Promise.all(
    [
      [TRANSFER, topic],
      [TRANSFER, null, topic],
    ].map((topics) => node.logs({ address: tokens, topics, fromBlock, toBlock })),
  );
  // One that an address makes to itself is in both answers.
  const each = new Map(logs.flat().map((log) => [`${log.blockHash} ${log.logIndex}`, log]));
  return [...each.values()]
    .filter(({ topics }) => topics.length === TRANSFER_TOPICS)
    .map((log) => ({ hash: log.transactionHash, block: log.blockNumber, logs: [log], send: undefined }));
}

/** Transactions by block, the newest first. */
function byBlock(found: readonly Found[]): Found[][] {
  const groups = [...groupBy(found, ({ block }) => String(block)).values()];
  return groups.map(mergeByHash).sort(([one], [other]) => (one && other && one.block < other.block ? 1 : -1));
}

const mergeByHash = (found: readonly Found[]): Found[] =>
  [...groupBy(found, ({ hash }) => hash).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    return [{ ...first, logs: same.flatMap(({ logs }) => logs), send: same.find(({ send }) => send)?.send }];
  });

/** Takes whole blocks until there are as many transactions as are wanted. */
function takeSome(groups: Found[][], wanted: number): Found[] {
  const some: Found[] = [];
  while (some.length < wanted) {
    const group = groups.shift();
    if (group === undefined) break;
    some.push(...group);
  }
  return some;
}

/** Where each stands in the chain. What is in no block of it any more is left out. */
async function placed(node: EvmNode, found: readonly Found[]): Promise<HistoryEntry[]> {
  const numbers = [...new Set(found.map(({ block }) => block))];
  const blocks = new Map(await Promise.all(numbers.map(async (number) => [number, await node.block(number)] as const)));
  const entries = found.flatMap((one): HistoryEntry[] => {
    const block = blocks.get(one.block);
    const index = block?.transactions.indexOf(one.hash) ?? -1;
    if (block === undefined || index === -1) return [];
    const logs = one.logs.filter(({ blockHash }) => blockHash === block.hash);
    return [{ ...one, logs, block, place: { block: block.number, index } }];
  });
  return entries.sort(({ place: one }, { place: other }) => (isOlder(one, other) ? 1 : -1));
}
