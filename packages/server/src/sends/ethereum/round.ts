import { chunks } from '../../lib/collections.ts';
import type { Send } from '../../lib/send.ts';
import type { EvmNode, Hex } from '../../nodes/node.ts';
import type { Round } from '../parts.ts';
import { begin, openLine, readyToBegin } from './begin.ts';
import { follow, type View } from './follow.ts';

/** Their questions to the node travel together. */
const FOLLOWED_AT_ONCE = 16;

/** One look at the sends of an address on an EVM chain: what is out is followed, what waits is begun in its order. */
export async function ethereumRound(round: Round, open: readonly Send[], isPoked: boolean): Promise<void> {
  const node = round.parts.nodes.evm(round.chain.caip2);
  const ready = await readyToBegin(
    round,
    open.filter(({ state }) => state === 'INITIALIZED'),
  );
  const out = open.filter(({ attempts }) => attempts.length > 0);
  if (!isPoked && out.length > 0) {
    const view = await look(round, node);
    for (const some of chunks(out, FOLLOWED_AT_ONCE)) {
      await Promise.all(some.map((send) => follow(round, node, send, view)));
    }
  }
  if (ready.length === 0) return;
  const line = await openLine(round, node, isPoked ? open : await reread(round, open.length));
  for (const send of ready) {
    if ((await begin(round, node, send, line)) === 'wait') return;
  }
}

/** After following, as it changed what is on its way. */
const reread = ({ parts, lane }: Round, count: number): Promise<readonly Send[]> =>
  parts.storage.read.sends.open(lane.caip2, lane.lane, count);

async function look({ lane }: Round, node: EvmNode): Promise<View> {
  const [head, finalized, count] = await Promise.all([
    node.block('latest'),
    node.block('finalized').catch(() => undefined),
    node.transactionCount(lane.lane as Hex, 'latest'),
  ]);
  if (head === undefined) throw new Error('the node has no latest block');
  return { head, finalized: finalized?.number, count };
}
