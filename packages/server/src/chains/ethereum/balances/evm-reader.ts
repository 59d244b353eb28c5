import { chunks } from '../../../lib/collections.ts';
import { nativeAsset, tokenAssets } from '../../assets.ts';
import type { BalanceLevel } from '../../balances/level.ts';
import {
  type Audience,
  type ChainReader,
  type Change,
  ChangeSum,
  type ReaderObserver,
  type WatchedBlock,
} from '../../balances/reader.ts';
import type { EvmFullBlock, EvmLog, EvmNode, Hex } from '../../nodes/node.ts';
import { readReceipts, readTransfers, readWholeBlock } from './evm-block.ts';

/** Blocks on top of another after which it counts as final, on chains that do not tell. */
const SETTLED_DEPTH = 12;

/** Balances after a block, so that the next one need not be compared with the state before it. */
interface Known {
  readonly hash: string;
  readonly balances: ReadonlyMap<string, bigint>;
}

export function createEvmReader(node: EvmNode, level: BalanceLevel, observe: ReaderObserver): ChainReader {
  const { chain } = node;
  const native = nativeAsset(chain);
  const tokens = tokenAssets(chain);
  let hasFinality = false;
  let known: Known = { hash: '', balances: new Map() };

  async function tip(): Promise<bigint | undefined> {
    const latest = await node.block('latest');
    if (latest === undefined) return undefined;
    const confirmed = latest.number - BigInt(chain.confirmations) + 1n;
    if (level === 'confirmed') return confirmed < 0n ? undefined : confirmed;
    const finalized = await node.block('finalized');
    if (finalized !== undefined) {
      hasFinality = true;
      return finalized.number;
    }
    // A node that does not know the tag for once must not make blocks final too early.
    if (hasFinality) return undefined;
    const depth = Math.max(SETTLED_DEPTH, chain.confirmations - 1);
    const settled = latest.number - BigInt(depth);
    return settled < 0n ? undefined : settled;
  }

  /** What transactions gave and took by their value and their fee. */
  async function addNative(sum: ChangeSum, block: EvmFullBlock, wanted: ReadonlySet<string>): Promise<void> {
    const ours = block.transactions.filter(
      ({ from, to, value }) => wanted.has(from) || (to && value > 0n && wanted.has(to)),
    );
    for await (const [{ hash: txHash, from, to, value }, receipt] of readReceipts(node, block, ours)) {
      const moved = receipt.isSuccess ? value : 0n;
      const fee = receipt.gasUsed * receipt.effectiveGasPrice;
      const receiver = to ?? receipt.contractAddress ?? '';
      if (wanted.has(from)) sum.add({ key: from, txHash, asset: native, amount: -moved - fee });
      if (wanted.has(receiver)) sum.add({ key: receiver, txHash, asset: native, amount: moved });
    }
  }

  function addTokens(sum: ChangeSum, logs: readonly EvmLog[], wanted: ReadonlySet<string>): void {
    for (const log of logs) {
      const asset = tokens.get(log.address);
      const [from, to] = partiesOf(log);
      // The third topic of another kind of token is no amount.
      if (asset === undefined || log.data.length !== 2 + 64 || log.topics.length !== 3) continue;
      const amount = BigInt(log.data);
      if (wanted.has(from)) sum.add({ key: from, txHash: log.transactionHash, asset, amount: -amount });
      if (wanted.has(to)) sum.add({ key: to, txHash: log.transactionHash, asset, amount });
    }
  }

  /** What remains of the difference between the balances after two blocks. */
  async function remainders(
    block: EvmFullBlock,
    explained: readonly Change[],
    keys: readonly string[],
  ): Promise<readonly Change[]> {
    const before = known.hash === block.parentHash ? known.balances : new Map<string, bigint>();
    const after = new Map<string, bigint>();
    const rest: Change[] = [];
    const byTransactions = new Map<string, bigint>();
    for (const { key, asset, amount } of explained) {
      if (asset === native) byTransactions.set(key, (byTransactions.get(key) ?? 0n) + amount);
    }
    let missing = 0;
    for (const some of chunks(keys)) {
      const read = some.map(async (key) => {
        const [was, is] = await Promise.all([
          before.get(key) ?? (block.number === 0n ? 0n : node.balanceAt(key as Hex, block.number - 1n)),
          node.balanceAt(key as Hex, block.number),
        ]);
        const told = byTransactions.get(key) ?? 0n;
        if (was === undefined || is === undefined) {
          missing += 1;
          // What a later block with its state then has too much or too little is told with that one.
          if (was !== undefined) after.set(key, was + told);
          else if (is !== undefined) after.set(key, is);
          return;
        }
        after.set(key, is);
        const amount = is - was - told;
        if (amount !== 0n) rest.push({ key, txHash: '', asset: native, amount });
      });
      await Promise.all(read);
    }
    if (missing > 0) observe.stateMissing(chain.caip2, missing);
    known = { hash: block.hash, balances: after };
    return rest;
  }

  async function changesOf(block: EvmFullBlock, audience: Audience): Promise<readonly Change[] | undefined> {
    const logs = await readTransfers(node, block, tokens);
    const named = new Set<string>(logs.flatMap(partiesOf));
    for (const { from, to } of block.transactions) {
      named.add(from);
      if (to !== undefined) named.add(to);
    }
    const [wanted, all = []] = await Promise.all([audience.among(named), audience.all()]);
    const sum = new ChangeSum();
    await addNative(sum, block, wanted);
    addTokens(sum, logs, wanted);
    const explained = sum.list();
    const rest = await remainders(block, explained, [...new Set([...all, ...wanted])]);
    // Balances were asked for by number: they are of this block only if the chain still has it.
    if ((await node.block(block.number))?.hash !== block.hash) return undefined;
    return [...explained, ...rest];
  }

  const watched = (block: EvmFullBlock): WatchedBlock => ({
    number: block.number,
    hash: block.hash,
    parentNumber: block.number - 1n,
    parentHash: block.parentHash,
    timestamp: block.timestamp,
    changes: (audience) => changesOf(block, audience),
  });

  return {
    tip,
    async next(after, newest) {
      if (after >= newest) return undefined;
      const block = await readWholeBlock(node, after + 1n);
      return block && watched(block);
    },
    hashAt: async (number) => (await node.block(number))?.hash,
  };
}

const partiesOf = ({ topics }: EvmLog): readonly [string, string] => [
  `0x${topics[1]?.slice(-40)}`,
  `0x${topics[2]?.slice(-40)}`,
];
