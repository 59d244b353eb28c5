import { encodeEventTopics, pad } from 'viem';
import { once } from '../../../lib/once.ts';
import type { EvmLog, Hex } from '../../nodes/node.ts';
import { earnWrapperAbi } from '../contract-artifacts.ts';

const withdrawTopic = once(() => encodeEventTopics({ abi: earnWrapperAbi, eventName: 'Withdraw' })[0]);
const WORD = 2 + 64;

/** What a wrapper paid out to an owner of its shares, by the logs of a receipt, in the smallest unit of the asset. */
export function withdrawnIn(logs: readonly EvmLog[], wrapper: string, owner: string): bigint {
  const ownerTopic = pad(owner.toLowerCase() as Hex, { size: 32 });
  let assets = 0n;
  for (const { address, topics, data } of logs) {
    if (address !== wrapper.toLowerCase() || topics[0] !== withdrawTopic() || topics[3] !== ownerTopic) continue;
    // The first of its two words; the second is the number of shares.
    if (data.length >= WORD) assets += BigInt(data.slice(0, WORD));
  }
  return assets;
}
