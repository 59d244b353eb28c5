import type { ListWebhookDeliveriesResponse, ListWebhookEndpointsResponse } from '@custos/sdk';
import type { StatusTone } from '../../kit/status-mark.tsx';
import { relative } from '../../lib/time.ts';

export type Endpoint = ListWebhookEndpointsResponse['webhookEndpoints'][number];
export type EventType = Endpoint['subscriptions'][number]['eventType'];
export type Delivery = ListWebhookDeliveriesResponse['webhookDeliveries'][number];
export type DeliveryState = Delivery['state'];
export type Attempt = Delivery['attempts'][number];

export const EVENTS: readonly { readonly type: EventType; readonly label: string; readonly help: string }[] = [
  { type: 'ACTIVITY_UPDATES', label: 'Activities', help: 'Created, each vote, the end.' },
  { type: 'SEND_TRANSACTION_STATUS_UPDATES', label: 'Sends', help: 'Broadcast, included, failed.' },
  { type: 'BALANCE_CONFIRMED_UPDATES', label: 'Balances, confirmed', help: 'Deposits and withdrawals, early.' },
  { type: 'BALANCE_FINALIZED_UPDATES', label: 'Balances, final', help: 'Deposits and withdrawals that stay.' },
];

/** Events of this type can have a sentence. */
export const DESCRIBED: EventType = 'ACTIVITY_UPDATES';

/** `ACTIVITY_UPDATES` as "Activities". */
export const eventWord = (eventType: string): string =>
  EVENTS.find(({ type }) => type === eventType)?.label ??
  (isTest(eventType) ? 'Test event' : eventType.toLowerCase().replaceAll('_', ' '));

export const STATES: Readonly<Record<DeliveryState, { readonly tone: StatusTone; readonly word: string }>> = {
  WEBHOOK_DELIVERY_STATE_PENDING: { tone: 'wait', word: 'Waiting' },
  WEBHOOK_DELIVERY_STATE_DELIVERED: { tone: 'allow', word: 'Delivered' },
  WEBHOOK_DELIVERY_STATE_FAILED: { tone: 'deny', word: 'Failed' },
  WEBHOOK_DELIVERY_STATE_DEAD_LETTERED: { tone: 'deny', word: 'Given up' },
};

export const isSuccess = ({ status }: Attempt): boolean => status !== undefined && status >= 200 && status < 300;

/** "503 in 84 ms", "no answer: TIMEOUT". */
export const answerInWords = (attempt: Attempt): string =>
  attempt.status === undefined
    ? `no answer${attempt.error ? `: ${attempt.error}` : ''}`
    : `${attempt.status} in ${attempt.latencyMs} ms`;

/** The last answer, and when the next attempt is due. */
export function lastAnswer({ attempts, nextAttemptAt }: Delivery, nowMs: number): string {
  const last = attempts.at(-1);
  const next =
    nextAttemptAt === undefined
      ? undefined
      : Date.parse(nextAttemptAt) <= nowMs
        ? 'now'
        : relative(nextAttemptAt, nowMs);
  if (last === undefined) return next === undefined ? 'not tried yet' : `first attempt ${next}`;
  return `${answerInWords(last)}${next === undefined ? '' : `, again ${next}`}`;
}

/** The bold first words about what went wrong with a delivery, and what follows from it. */
export function verdict(delivery: Delivery): { readonly title: string; readonly text: string } | undefined {
  const { state, attempts, eventType } = delivery;
  const last = attempts.at(-1);
  if (state === 'WEBHOOK_DELIVERY_STATE_DELIVERED' || last === undefined || isSuccess(last)) return undefined;
  const { status } = last;
  const title = status === undefined ? 'The receiver could not be reached.' : `The receiver answered ${status}.`;
  const hint =
    status === 401 || status === 403
      ? 'It refuses the signature, its age or the sender: check its clock and its keys. '
      : status !== undefined && status >= 300 && status < 400
        ? 'The service does not follow redirects: change the URL. '
        : '';
  const after: Readonly<Record<DeliveryState, string>> = {
    WEBHOOK_DELIVERY_STATE_DELIVERED: '',
    WEBHOOK_DELIVERY_STATE_PENDING: 'It is tried again.',
    WEBHOOK_DELIVERY_STATE_FAILED:
      status === 410
        ? 'That means gone for good: no further attempt is made, and the endpoint was switched off.'
        : isTest(eventType)
          ? 'A test is tried once.'
          : 'No further attempt is made.',
    WEBHOOK_DELIVERY_STATE_DEAD_LETTERED: 'Given up after three days. Replay it once the receiver is well.',
  };
  return { title, text: hint + after[state] };
}

const isTest = (eventType: string): boolean => /TEST/i.test(eventType);

/** "94.0 %"; nothing where nothing was tried. */
export const successRate = (succeeded: number, failed: number): string | undefined =>
  succeeded + failed === 0 ? undefined : `${((100 * succeeded) / (succeeded + failed)).toFixed(1)} %`;

export const RANGES = {
  '24 h': { spanMs: 86_400_000, bucketMs: 1_800_000, words: '24 hours' },
  '7 d': { spanMs: 7 * 86_400_000, bucketMs: 6 * 3_600_000, words: '7 days' },
  '30 d': { spanMs: 30 * 86_400_000, bucketMs: 86_400_000, words: '30 days' },
} as const;
export type Range = keyof typeof RANGES;

/** Whole buckets, so that a question keeps its words and its answer while time passes. */
export function sinceOf(range: Range, nowMs: number): number {
  const { spanMs, bucketMs } = RANGES[range];
  return Math.ceil(nowMs / bucketMs) * bucketMs - spanMs;
}

/** Every bucket of the range, also those in which nothing happened. */
export function fillBuckets(
  buckets: readonly { readonly startsAt: string; readonly succeeded: number; readonly failed: number }[],
  sinceMs: number,
  range: Range,
): readonly { readonly startsAt: string; readonly succeeded: number; readonly failed: number }[] {
  const { spanMs, bucketMs } = RANGES[range];
  const filled = Array.from({ length: spanMs / bucketMs }, (_, index) => ({
    startsAt: new Date(sinceMs + index * bucketMs).toISOString(),
    succeeded: 0,
    failed: 0,
  }));
  for (const { startsAt, succeeded, failed } of buckets) {
    const bucket = filled[Math.floor((Date.parse(startsAt) - sinceMs) / bucketMs)];
    if (bucket === undefined) continue;
    bucket.succeeded += succeeded;
    bucket.failed += failed;
  }
  return filled;
}
