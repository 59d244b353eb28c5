import type { OutboundReason } from '../../outbound/outbound-error.ts';
import { type AttemptOutcome, isTriedAgain, outcomeOf } from './attempt-outcome.ts';
import type { DeliveryResult, QueuedDelivery, WebhookAttempt } from './model.ts';
import type { Receipt } from './poster/posting.ts';
import { nextAttemptAt, retryAfterMs } from './schedule.ts';

/** An attempt and what it means. */
export interface Attempted extends DeliveryResult {
  readonly outcome: AttemptOutcome;
  /** How long the receiver asked to be left alone. */
  readonly retryAfterMs: number | undefined;
}

export const toAttempt = ({ latencyMs, status, error, answer }: Receipt, atMs: number): WebhookAttempt => ({
  atMs,
  latencyMs: Math.round(latencyMs),
  ...(status !== undefined && { status }),
  ...(error !== undefined && { error: toldReason(error) }),
  ...(answer !== undefined && { answer }),
});

/** One word for names that are unknown and those that lead where nothing may go: nobody shall map our network by it. */
const toldReason = (error: OutboundReason): string =>
  error === 'unresolved' || error === 'forbidden-address' ? 'unreachable' : error;

/** What an attempt that began at a moment and has ended now makes of its delivery. */
export function resultOf(
  delivery: QueuedDelivery,
  receipt: Receipt,
  atMs: number,
  nowMs: number,
  random: number,
): Attempted {
  const outcome = outcomeOf(receipt);
  const attempt = toAttempt(receipt, atMs);
  const waitMs = retryAfterMs(receipt.retryAfter, nowMs);
  const base = { delivery, attempt, outcome, retryAfterMs: waitMs, nextAttemptAtMs: delivery.nextAttemptAtMs };
  if (outcome === 'delivered') return { ...base, state: 'delivered' };
  if (!isTriedAgain(outcome)) return { ...base, state: 'failed' };
  const failed = {
    failures: delivery.failures + 1,
    roundStartedAtMs: delivery.roundStartedAtMs,
    retryAfterMs: waitMs,
  };
  const nextAtMs = nextAttemptAt(failed, nowMs, random);
  return nextAtMs === undefined ? { ...base, state: 'dead' } : { ...base, state: 'pending', nextAttemptAtMs: nextAtMs };
}
