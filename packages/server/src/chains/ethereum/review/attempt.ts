import { formatUnits } from '../../../lib/amount.ts';
import { networkOf } from '../../networks.ts';
import type { EvmNode } from '../../nodes/node.ts';
import { costTerms } from '../../send/cost.ts';
import { laneAddress, type Send, type SendAttempt } from '../../send/model.ts';
import type { Sighting } from '../../send/sighting.ts';
import { findLanded } from '../send/follow.ts';
import { lastNonceOf } from '../send/transaction.ts';
import type { EvmHistory } from './history.ts';
import type { SentTransaction } from './signed-transaction.ts';

export interface EvmParts {
  readonly node: EvmNode;
  readonly history: EvmHistory;
  readonly nowMs: () => number;
}

const unclear = (because: string): Sighting => ({ kind: 'unknown', because, isAway: false });

/** Where a transaction is that belongs to a send: it becomes one more form of it. */
export async function sightingOf(parts: EvmParts, send: Send, transaction: SentTransaction): Promise<Sighting> {
  const attempt = attemptFrom(parts, send, transaction);
  const { hash } = transaction;
  if (attempt === undefined) return unclear(`a node tells of other bytes of ${hash} than ${send.lane} has signed`);
  const form = { ...send, attempts: [attempt] };
  return (await landedSighting(parts, form)) ?? { kind: 'pending', attempt, lastNonce: lastNonceOf(form) };
}

/** Which of the forms of a send is in a block, if any. */
export async function landedSighting({ node }: EvmParts, send: Send): Promise<Sighting | undefined> {
  const landed = await findLanded(node, send);
  if (landed === undefined) return undefined;
  if (landed === 'unclear') return unclear('the nodes contradict each other about the block that has its transaction');
  const { attempt, receipt } = landed;
  const block = { number: Number(receipt.blockNumber), isSuccess: receipt.isSuccess };
  return { kind: 'landed', attempt, block, lastNonce: lastNonceOf({ ...send, attempts: [attempt] }) };
}

/** Undefined where the bytes are not known, or are not signed by who pays. */
function attemptFrom({ node, nowMs }: EvmParts, send: Send, transaction: SentTransaction): SendAttempt | undefined {
  const { hash, raw, nonce, from, most } = transaction;
  const known = send.attempts.find((attempt) => attempt.hash === hash);
  if (known !== undefined) return known;
  if (raw === undefined || from !== laneAddress(send.lane)) return undefined;
  return { hash, raw, nonce, signedAtMs: nowMs(), ...costTerms(node.chain, send, most) };
}

/** For a person who has to find out what it was. */
export function describeTransaction({ to, value, input }: SentTransaction, caip2: string): string {
  if (to === undefined) return 'creates a contract';
  const { symbol, decimals } = networkOf(caip2).coin;
  const amount = value === 0n ? '' : `${formatUnits(value, decimals)} ${symbol} `;
  return `${amount}to ${to}${input === '0x' ? '' : `, calling ${input.slice(0, 10)}`}`;
}
