import type { Broadcast, EvmNode, Hex } from '../../nodes/node.ts';
import type { Send, SendAttempt } from '../../send/model.ts';
import { progressOf, type Round } from '../../send/parts.ts';

/** How long a node is left alone with bytes that it was given. */
export const REBROADCAST_AFTER_MS = 15_000;

/** Gives the newest bytes of a send to a node. */
export async function handOver(round: Round, node: EvmNode, send: Send): Promise<Broadcast | undefined> {
  const newest = send.attempts.at(-1);
  if (newest === undefined) return undefined;
  round.memory.broadcastAtMs.set(send.id, round.parts.elapsed());
  return await node.broadcast(newest.raw as Hex);
}

/**
 * Stores the first bytes of a send and gives them to a node; false when that would not have them. Stored before any node
 * sees it: whoever dies from here on leaves behind what is to be sent again, byte for byte.
 */
export async function handOverFirst(
  round: Round,
  node: EvmNode,
  send: Send,
  attempt: SendAttempt,
  nonce: number,
): Promise<boolean> {
  const stored = await round.save(send, {
    ...progressOf(send),
    state: 'BROADCASTING',
    nonce,
    attempts: [attempt],
    txHash: attempt.hash,
  });
  const outcome = await handOver(round, node, stored);
  if (outcome?.kind !== 'refused' && outcome?.kind !== 'underpriced') return true;
  await giveNonceOn(
    round,
    stored,
    outcome.kind === 'refused'
      ? outcome.message
      : 'it pays too little, or another transaction with this nonce pays more',
  );
  return false;
}

/** The node would not have it: its nonce is free for the next. It is watched for a while, in case that was not true. */
export async function giveNonceOn(round: Round, send: Send, why: string): Promise<void> {
  // One that gave it on before failed for the first reason, and an empty transaction is refused for its own.
  const error = send.error ?? { message: `the node refused it: ${why}` };
  await round.save(send, { ...progressOf(send), state: 'FAILED', nonce: undefined, error });
}
