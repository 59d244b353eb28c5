import { asQuantity, heedTrouble, illShaped, readBlock, readFullBlock } from '../../nodes/answers.ts';
import type { EvmBlock, EvmFullBlock, EvmNode } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import type { RpcCall } from '../../nodes/rpc.ts';

const NO_BLOCK = /not found|unknown block|out of range|greater than|beyond|future|no .*block|not (yet )?available/i;
const NO_TAG_CODES: ReadonlySet<number> = new Set([-32602, -32000, -39001]);

/** The question for a block with its transactions; undefined where the node has no such block (yet). */
export const readFullBlockAt = (at: bigint): RpcCall<EvmFullBlock | undefined> => ({
  method: 'eth_getBlockByNumber',
  params: [`0x${at.toString(16)}`, true],
  // A block that is too long to be read at once says nothing against the node: its transactions can be read one by one.
  isOfRange: true,
  read: (answer) => {
    if (answer.ok) return readFullBlock(answer.result, at);
    heedTrouble(answer);
    if (NO_BLOCK.test(answer.message)) return undefined;
    throw new NodeError('unavailable', answer.message);
  },
});

/** How nodes say that they have thrown the state of a block away. One that lacks the block may only be behind. */
const NO_STATE = /missing trie node|state|historical|prun(ed|ing)|archive/i;

/** The question for a balance after a block; undefined where the node does not have that state any more. */
export const readBalanceAt = (address: string, at: bigint): RpcCall<bigint | undefined> => ({
  method: 'eth_getBalance',
  params: [address, `0x${at.toString(16)}`],
  read: (answer) => {
    if (answer.ok) return asQuantity(answer.result, 'the balance');
    if (NO_STATE.test(answer.message)) return undefined;
    throw new NodeError('unavailable', answer.message);
  },
});

/** The question for a block; undefined where the node has no such block (yet), or does not know the tag. */
export const readBlockAt = (at: Parameters<EvmNode['block']>[0]): RpcCall<EvmBlock | undefined> => ({
  method: 'eth_getBlockByNumber',
  params: [typeof at === 'bigint' ? `0x${at.toString(16)}` : at, false],
  read: (answer) => {
    if (answer.ok) {
      const block = readBlock(answer.result, typeof at === 'bigint' ? at : undefined);
      if (block === undefined && at === 'latest') throw illShaped('the latest block');
      return block;
    }
    heedTrouble(answer);
    const isTag = at === 'finalized' || at === 'safe';
    const isMissing = at !== 'latest' && NO_BLOCK.test(answer.message);
    if (isMissing || (isTag && NO_TAG_CODES.has(answer.code))) return undefined;
    throw new NodeError('unavailable', answer.message);
  },
});
