import type { GetOperationsResponse } from '@custos/sdk';

export type Reading = GetOperationsResponse;
type Bucket = Reading['latency']['buckets'][number];

/** What happened between two readings. Gaps are undefined: nothing was answered, or the process is another one. */
export interface Point {
  readonly atMs: number;
  readonly requests?: number;
  readonly errors?: number;
  readonly signatures?: number;
  readonly p50?: number;
  readonly p95?: number;
  readonly p99?: number;
  readonly waiting: number;
}

/**
 * How long so many of all answers took at most, in seconds, from how many took at most how long. Within a bucket it is
 * taken to grow evenly; beyond the last bound nothing is known, so that bound is the answer.
 */
export function quantile(buckets: readonly Bucket[], total: number, share: number): number | undefined {
  if (total <= 0) return undefined;
  const rank = share * total;
  let [bound, below] = [0, 0];
  for (const { leSeconds, count } of buckets) {
    if (count >= rank && Number.isFinite(leSeconds)) {
      const within = count - below;
      return within <= 0 ? leSeconds : bound + ((leSeconds - bound) * (rank - below)) / within;
    }
    if (Number.isFinite(leSeconds)) [bound, below] = [leSeconds, count];
  }
  return bound;
}

/** The cumulative counts of what came between two readings. */
export function bucketDifference(before: readonly Bucket[], after: readonly Bucket[]): readonly Bucket[] {
  const earlier = new Map(before.map(({ leSeconds, count }) => [leSeconds, count]));
  return after.map(({ leSeconds, count }) => ({
    leSeconds,
    count: Math.max(0, count - (earlier.get(leSeconds) ?? 0)),
  }));
}

export const waitingIn = ({ queues }: Reading): number => queues.reduce((sum, { waiting }) => sum + waiting, 0);

/** One point from two readings of the same process; counters of another begin at zero and tell nothing. */
export function pointOf(before: Reading | undefined, after: Reading): Point {
  const atMs = Date.parse(after.now);
  const waiting = waitingIn(after);
  const seconds = before === undefined ? 0 : (atMs - Date.parse(before.now)) / 1000;
  const isSame =
    before !== undefined &&
    before.service.processId === after.service.processId &&
    before.service.startedAt === after.service.startedAt &&
    seconds > 0;
  if (!isSame) return { atMs, waiting };
  const perSecond = (name: keyof Reading['counters']): number =>
    Math.max(0, after.counters[name] - before.counters[name]) / seconds;
  const buckets = bucketDifference(before.latency.buckets, after.latency.buckets);
  const total = after.latency.count - before.latency.count;
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(buckets, total, share));
  return {
    atMs,
    waiting,
    requests: perSecond('requests'),
    errors: perSecond('errors5xx'),
    signatures: perSecond('signatures'),
    ...(p50 !== undefined && { p50 }),
    ...(p95 !== undefined && { p95 }),
    ...(p99 !== undefined && { p99 }),
  };
}
