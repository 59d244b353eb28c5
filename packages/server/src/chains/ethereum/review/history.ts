import { asCount, asMembers, asQuantity, isAbsent, readBlock, resultOf } from '../../nodes/answers.ts';
import type { EvmBlock, Hex } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { createRpc, type NodeOptions, type Rpc, type RpcCall } from '../../nodes/rpc.ts';
import type { ChainSettings } from '../../settings.ts';
import { readBlockAt } from '../node/block-at.ts';
import { chainProblem } from '../node/evm-node.ts';
import { isFrom, readSentTransaction, type SentTransaction } from './signed-transaction.ts';

/** How many transactions of an address a node has. */
export interface SentCounts {
  readonly latest: number;
  /** With those that wait for a block there. */
  readonly pending: number;
}

/** What only a review of a restore asks of the nodes of an EVM chain. */
export interface EvmHistory {
  block(at: bigint | 'latest'): Promise<EvmBlock | undefined>;
  /** As each node that answers has them. */
  counts(address: Hex): Promise<readonly SentCounts[]>;
  /** After a block; a NodeError says `state` where no node has the state of that block any more. */
  countAt(address: Hex, block: bigint): Promise<number>;
  /** What an address sent in a block, in its order. */
  sentIn(block: bigint, address: Hex): Promise<readonly SentTransaction[]>;
  /** What waits for a block at any node that shows it. */
  waiting(address: Hex): Promise<readonly SentTransaction[]>;
  transaction(hash: Hex): Promise<SentTransaction | undefined>;
}

/** How nodes say that they have thrown the state of a block away. */
const NO_STATE = /missing trie node|state|historical|prun(ed|ing)|archive/i;

/** Whether no node could tell because none keeps what is that old. */
export const lacksState = (error: unknown): boolean => error instanceof NodeError && NO_STATE.test(error.message);

export function createEvmHistory(chain: ChainSettings, options: NodeOptions = {}): EvmHistory {
  const rpc = createRpc(chain.rpcUrls, {
    ...options,
    identity: { method: 'eth_chainId', problemOf: (result) => chainProblem(result, chain.reference) },
  });
  const countCall = (address: Hex, at: string): RpcCall<number> => ({
    method: 'eth_getTransactionCount',
    params: [address, at],
    read: (answer) => asCount(resultOf(answer), 'the number of transactions'),
  });

  return {
    block: (at) => rpc.ask(readBlockAt(at)),
    counts: (address) =>
      rpc.askEach(async (ask) => {
        const [latest, pending] = await Promise.all([
          ask(countCall(address, 'latest')),
          ask(countCall(address, 'pending')),
        ]);
        return { latest, pending: Math.max(latest, pending) };
      }),
    countAt: (address, block) => rpc.ask(countCall(address, `0x${block.toString(16)}`)),
    async sentIn(block, address) {
      const entries = await rpc.ask<readonly unknown[]>({
        method: 'eth_getBlockByNumber',
        params: [`0x${block.toString(16)}`, true],
        read: (answer) => {
          const result = resultOf(answer);
          // The block is checked without its transactions, of which only a few are ours.
          const { transactions } = asMembers(result, 'the block');
          readBlock({ ...asMembers(result, 'the block'), transactions: [] }, block);
          return Array.isArray(transactions) ? transactions.filter((entry) => isFrom(entry, address)) : [];
        },
      });
      return await Promise.all(entries.map(readSentTransaction));
    },
    async waiting(address) {
      const pools = await rpc.askEach((ask) => poolOf(ask, address));
      const byHash = new Map<Hex, SentTransaction>();
      for (const entry of pools.flat()) {
        const transaction = await readSentTransaction(entry).catch(unlessOfNode);
        if (transaction !== undefined) byHash.set(transaction.hash, transaction);
      }
      return [...byHash.values()].sort((one, other) => one.nonce - other.nonce);
    },
    async transaction(hash) {
      const entry = await rpc.ask<unknown>({
        method: 'eth_getTransactionByHash',
        params: [hash],
        read: (answer) => {
          const result = resultOf(answer);
          if (isAbsent(result)) return undefined;
          if (String(asMembers(result, 'the transaction').hash).toLowerCase() !== hash.toLowerCase())
            throw new NodeError('ill-shaped', 'the hash of the transaction is not what it should be');
          asQuantity(asMembers(result, 'the transaction').nonce, 'the nonce of the transaction');
          return result;
        },
      });
      return entry === undefined ? undefined : await readSentTransaction(entry);
    },
  };
}

/**
 * What one node has of an address that no block has, by the first of three ways that it knows. What it does not show is missing
 * from the answer: whoever asks compares with the count.
 */
async function poolOf(ask: Rpc['ask'], address: Hex): Promise<readonly unknown[]> {
  for (const [method, params] of [
    ['txpool_contentFrom', [address]],
    ['txpool_content', []],
    ['eth_getBlockByNumber', ['pending', true]],
  ] as const) {
    const shown = await ask(poolCall(method, params)).catch((error: unknown) => {
      // A pool may be longer than what we take in one answer.
      if (error instanceof NodeError && error.kind === 'too-large') return undefined;
      throw error;
    });
    if (shown !== undefined) return entriesIn(shown, address);
  }
  return [];
}

/** Undefined where the node does not offer it. */
const poolCall = (method: string, params: readonly unknown[]): RpcCall<unknown> => ({
  method,
  params,
  isOfRange: true,
  read: (answer) => (answer.ok ? (answer.result ?? undefined) : undefined),
});

/** Transactions of an address, wherever they are in a pool: by nonce, or by address and nonce, or in a list. */
function entriesIn(value: unknown, address: Hex, depth = 0): unknown[] {
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  if ('hash' in value && 'nonce' in value) return isFrom(value, address) ? [value] : [];
  return Object.values(value).flatMap((inner) => entriesIn(inner, address, depth + 1));
}

function unlessOfNode(error: unknown): undefined {
  if (!(error instanceof NodeError)) throw error;
  return undefined;
}
