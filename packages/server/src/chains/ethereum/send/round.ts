import { chunks } from '../../../lib/collections.ts';
import type { SendId } from '../../../lib/ids.ts';
import type { EvmNode, Hex } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { isPaidByOperator } from '../../send/cost.ts';
import { laneAddress, type Send } from '../../send/model.ts';
import { isPassedOver, LaneLost, type Round, SendGone, unlessGone } from '../../send/parts.ts';
import { begin, openLine, readyToBegin } from './begin.ts';
import { follow, isDue, type View } from './follow.ts';
import { fillGap, findGap } from './gap.ts';

/** Their questions to the node travel together. */
const FOLLOWED_AT_ONCE = 16;

/** One look at the sends of an address on an EVM chain: what is out is followed, what waits is begun in its order. */
export async function ethereumRound(round: Round, open: readonly Send[], isPoked: boolean): Promise<void> {
  const node = round.parts.nodes.evm(round.chain.caip2);
  const ready = await readyToBegin(
    round,
    open.filter(({ state }) => state === 'INITIALIZED'),
  );
  // One that cannot be followed or begun just now keeps none of the others.
  let failure: unknown;
  const out = open.filter(({ attempts }) => attempts.length > 0);
  if (!isPoked && out.length > 0) {
    const view = await look(round, node);
    let filled: SendId | undefined;
    try {
      filled = await fillGap(round, node, view);
    } catch (error) {
      if (!isPassedOver(round, error)) throw error;
    }
    // What has just filled a gap is no longer as it was read: the next round follows it.
    const due = out.filter((send) => send.id !== filled && isDue(round, send, view));
    for (const some of chunks(due, FOLLOWED_AT_ONCE)) {
      const outcomes = await Promise.allSettled(some.map((send) => unlessGone(() => follow(round, node, send, view))));
      for (const outcome of outcomes) if (outcome.status === 'rejected') failure = keep(round, failure, outcome.reason);
    }
  }
  if (ready.length > 0) {
    const line = await openLine(round, node);
    for (const send of ready) {
      try {
        if ((await begin(round, node, send, line)) === 'wait') break;
      } catch (error) {
        if (error instanceof SendGone) continue;
        failure = keep(round, failure, error);
        // Sends of one account keep their order; those that share the operator's lane are others' business.
        if (!isPaidByOperator(send)) break;
      }
    }
  }
  if (failure !== undefined) throw failure;
}

/** The first failure, unless the lane itself is lost. */
function keep(round: Round, before: unknown, failure: unknown): unknown {
  if (failure instanceof LaneLost) throw failure;
  return isPassedOver(round, failure) ? before : (before ?? failure);
}

async function look(round: Round, node: EvmNode): Promise<View> {
  const [head, finalized, count] = await Promise.all([
    node.block('latest'),
    finalizedBlock(round, node),
    node.transactionCount(laneAddress(round.lane.lane) as Hex, 'latest'),
  ]);
  if (head === undefined) throw new Error('the node has no latest block');
  return { head, finalized, count, gap: round.isPartial ? undefined : await findGap(round, count) };
}

/** A chain that told of a final block once has them, whatever a node says that is away or knows no such word. */
async function finalizedBlock({ memory }: Round, node: EvmNode): Promise<View['finalized']> {
  try {
    const block = await node.block('finalized');
    // Nodes of chains without finality name the first block, if any.
    memory.hasFinality ||= block !== undefined && block.number > 0n;
    if (memory.hasFinality) return block?.number ?? 'unknown';
    return 'none';
  } catch (error) {
    if (error instanceof NodeError) return 'unknown';
    throw error;
  }
}
