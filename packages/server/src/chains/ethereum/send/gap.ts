import { KeyringError } from '@custos/keyring';
import type { SendId } from '../../../lib/ids.ts';
import type { EvmNode, Hex } from '../../nodes/node.ts';
import { SignerGone } from '../../send/errors.ts';
import { laneAddress, type Send, type SendAttempt } from '../../send/model.ts';
import { isShared, progressOf, type Round } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import { advisedFees } from './fees.ts';
import type { View } from './follow.ts';
import { handOver, REBROADCAST_AFTER_MS } from './hand-over.ts';
import { payerOf, signAttempt } from './transaction.ts';

const GAS_MARGIN = 120n;
const PLAIN_GAS = 21_000n;

/** The next nonce of the lane where no send of ours has it and one behind it waits for it. */
export async function findGap({ parts, chain, lane }: Round, count: number): Promise<number | undefined> {
  const taken = await parts.storage.read(Sends).takenNonces(chain.caip2, lane.lane, count, isShared({ chain, lane }));
  return !taken.has(count) && taken.has(count + 1) ? count : undefined;
}

/**
 * A send that was out is refused when it is handed over again, and those behind it cannot land without its nonce. What
 * waits in the lane takes that nonce in the same round; where nothing does, an empty transaction from the payer to itself
 * takes it. It is one more form of the send that was refused, so that one of them lands at most. Answers with that send's
 * id where something was written about it, as it is no longer what the round has read.
 */
export async function fillGap(round: Round, node: EvmNode, { gap }: View): Promise<SendId | undefined> {
  if (gap === undefined) return undefined;
  const { parts, chain, lane, memory } = round;
  const address = laneAddress(lane.lane);
  const send = await parts.storage.read(Sends).refusedAt(chain.caip2, lane.lane, gap, isShared({ chain, lane }));
  // Nobody here can sign for the address of a transaction that was signed elsewhere.
  if (send === undefined || address !== lane.lane) return undefined;
  const newest = send.attempts.at(-1);
  const lastMs = memory.broadcastAtMs.get(send.id);
  if (newest?.isEmpty && lastMs !== undefined && parts.elapsed() - lastMs < REBROADCAST_AFTER_MS) return undefined;
  // Somebody else who has the key was faster.
  if ((await node.transactionCount(address as Hex, 'pending')) > gap) return undefined;
  const attempt = newest?.isEmpty ? newest : await emptyAttempt(round, node, send, gap);
  if (attempt === undefined) return undefined;
  const stored = await round.save(send, {
    ...progressOf(send),
    nonce: gap,
    attempts: attempt === newest ? send.attempts : [...send.attempts, attempt],
    txHash: attempt.hash,
  });
  const outcome = await handOver(round, node, stored);
  if (outcome?.kind === 'refused') await round.save(stored, { ...progressOf(stored), nonce: undefined });
  return stored.id;
}

async function emptyAttempt(round: Round, node: EvmNode, send: Send, nonce: number): Promise<SendAttempt | undefined> {
  const payer = payerOf(send);
  const self = payer.address as Hex;
  const [estimate, fees] = await Promise.all([
    node.estimateGas({ from: self, to: self, value: 0n }),
    advisedFees(round, node),
  ]);
  const gas = estimate.ok ? (estimate.gas * GAS_MARGIN) / 100n : PLAIN_GAS;
  const transaction = {
    chainId: Number(round.chain.reference),
    type: 'eip1559',
    nonce,
    to: self,
    gas,
    ...fees,
  } as const;
  try {
    return { ...(await signAttempt(round, send, payer, transaction)), isEmpty: true };
  } catch (error) {
    if (error instanceof SignerGone || (error instanceof KeyringError && error.code === 'NOT_OPENED')) return undefined;
    throw error;
  }
}
