import { chunks } from '../../../lib/collections.ts';
import type { EvmFullBlock, EvmLog, EvmMove, EvmNode, EvmReceipt, Hex } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';

/** `Transfer(address,address,uint256)`. */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** What is asked for together; a receipt can be long. */
const AT_ONCE = 100;

/**
 * Answers that are too long are read in pieces: a block that could not be read would hold up all that come after it.
 */
async function orInPieces<Value>(whole: Promise<Value>, inPieces: () => Promise<Value>): Promise<Value> {
  try {
    return await whole;
  } catch (error) {
    if (!(error instanceof NodeError) || error.kind !== 'too-large') throw error;
    return await inPieces();
  }
}

export const readWholeBlock = (node: EvmNode, number: bigint): Promise<EvmFullBlock | undefined> =>
  orInPieces(node.fullBlock(number), async () => {
    const block = await node.block(number);
    if (block === undefined) return undefined;
    const transactions: EvmMove[] = [];
    for (const some of chunks(block.transactions, AT_ONCE)) {
      for (const transaction of await Promise.all(some.map((hash) => node.transaction(hash)))) {
        if (transaction?.blockNumber !== number) throw lacking('transaction', number);
        const { hash, from, to, value } = transaction;
        transactions.push({ hash, from, to, value });
      }
    }
    return { ...block, transactions };
  });

/** The receipts of transactions of a block, some at a time. A node that lacks one is behind, or has another block. */
export async function* readReceipts(
  node: EvmNode,
  block: EvmFullBlock,
  moves: readonly EvmMove[],
): AsyncGenerator<readonly [EvmMove, EvmReceipt]> {
  for (const some of chunks(moves, AT_ONCE)) {
    const receipts = await Promise.all(some.map(({ hash }) => node.receipt(hash)));
    for (const [index, move] of some.entries()) {
      const receipt = receipts[index];
      if (receipt?.blockHash !== block.hash) throw lacking('receipt', block.number);
      yield [move, receipt];
    }
  }
}

/** What tokens say that they have moved in a block. */
export async function readTransfers(
  node: EvmNode,
  block: EvmFullBlock,
  tokens: ReadonlyMap<string, unknown>,
): Promise<readonly EvmLog[]> {
  if (tokens.size === 0) return [];
  const address = [...tokens.keys()] as Hex[];
  return await orInPieces(node.logs({ address, topics: [TRANSFER], blockHash: block.hash }), async () => {
    const found: EvmLog[] = [];
    for await (const [, { logs }] of readReceipts(node, block, block.transactions)) {
      found.push(...logs.filter((log) => tokens.has(log.address) && log.topics[0] === TRANSFER));
    }
    return found;
  });
}

const lacking = (what: string, number: bigint): NodeError =>
  new NodeError('unavailable', `a ${what} of the block ${number} is missing, or belongs to another block`);
