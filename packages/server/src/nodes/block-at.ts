import { heedTrouble, illShaped, readBlock } from './answers.ts';
import type { EvmBlock, EvmNode } from './node.ts';
import { NodeError } from './node-error.ts';
import type { RpcCall } from './rpc.ts';

const NO_BLOCK = /not found|unknown block|out of range|greater than|beyond|future|no .*block|not (yet )?available/i;
const NO_TAG_CODES: ReadonlySet<number> = new Set([-32602, -32000, -39001]);

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
