import type { Hex } from '../../nodes/node.ts';
import type { EvmHistory } from './history.ts';
import type { SentTransaction } from './signed-transaction.ts';

/** Blocks that are read at a time. */
const BLOCKS_AT_ONCE = 8;

/** How many transactions of an address there are after a block. */
export interface CountAt {
  readonly block: bigint;
  readonly count: number;
}

export interface UsedNonce {
  readonly nonce: number;
  readonly block: bigint;
  /** Undefined where an authorization in another transaction took it (EIP-7702). */
  readonly transaction: SentTransaction | undefined;
}

/**
 * What took the nonces of an address between two blocks, in their order. The blocks are found by halves: all ranges in which
 * there is something are asked for together, so that it takes as many turns as the number of blocks has digits.
 */
export async function* usedNonces(
  history: EvmHistory,
  address: Hex,
  from: CountAt,
  to: CountAt,
): AsyncGenerator<UsedNonce> {
  const blocks = await blocksWith(history, address, from, to);
  for (let start = 0; start < blocks.length; start += BLOCKS_AT_ONCE) {
    const some = blocks.slice(start, start + BLOCKS_AT_ONCE);
    const sent = await Promise.all(some.map(({ high }) => history.sentIn(high.block, address)));
    for (const [index, { low, high }] of some.entries()) {
      for (let nonce = low.count; nonce < high.count; nonce += 1) {
        const transaction = sent[index]?.find((one) => one.nonce === nonce);
        yield { nonce, block: high.block, transaction };
      }
    }
  }
}

interface Range {
  readonly low: CountAt;
  readonly high: CountAt;
}

/** The single blocks in which the count grows. */
async function blocksWith(history: EvmHistory, address: Hex, low: CountAt, high: CountAt): Promise<Range[]> {
  const grows = (range: Range): boolean => range.high.count > range.low.count;
  const isSingle = ({ low, high }: Range): boolean => high.block - low.block <= 1n;
  let ranges: Range[] = [{ low, high }].filter(grows);
  while (!ranges.every(isSingle)) {
    const halves = await Promise.all(
      ranges.map(async (range): Promise<Range[]> => {
        if (isSingle(range)) return [range];
        const block = (range.low.block + range.high.block) / 2n;
        const middle = { block, count: await history.countAt(address, block) };
        return [
          { low: range.low, high: middle },
          { low: middle, high: range.high },
        ];
      }),
    );
    ranges = halves.flat().filter(grows);
  }
  return ranges;
}

/** The newest block that is not younger than a moment; the first one where all are. */
export async function blockAt(history: EvmHistory, atMs: number, head: { readonly number: bigint }): Promise<bigint> {
  let [low, high] = [0n, head.number];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    const block = await history.block(middle);
    // What a node has thrown away is old.
    if (block === undefined || block.timestamp * 1000 <= atMs) low = middle;
    else high = middle - 1n;
  }
  return low;
}
