import { describe, expect, it } from 'vitest';
import { bucketDifference, pointOf, quantile, type Reading } from './rates.ts';

const reading = (change: {
  readonly atS: number;
  readonly requests?: number;
  readonly processId?: number;
  readonly buckets?: Reading['latency']['buckets'];
}): Reading =>
  ({
    service: { processId: change.processId ?? 1, startedAt: '2026-11-04T00:00:00Z' },
    counters: { requests: change.requests ?? 0, errors5xx: 0, signatures: 0 },
    latency: { buckets: change.buckets ?? [], count: change.buckets?.at(-1)?.count ?? 0, sumSeconds: 0 },
    queues: [
      { name: 'webhooks', waiting: 3 },
      { name: 'sends', waiting: 1 },
    ],
    now: new Date(Date.UTC(2026, 10, 16, 10, 0, change.atS)).toISOString(),
  }) as unknown as Reading;

describe('quantiles of a histogram', () => {
  const buckets = [
    { leSeconds: 0.01, count: 50 },
    { leSeconds: 0.1, count: 90 },
    { leSeconds: 1, count: 100 },
  ];

  it('grow evenly within a bucket', () => {
    expect(quantile(buckets, 100, 0.5)).toBeCloseTo(0.01);
    expect(quantile(buckets, 100, 0.7)).toBeCloseTo(0.055);
    expect(quantile(buckets, 100, 0.95)).toBeCloseTo(0.55);
  });

  it('stop at the last bound that is known', () => {
    expect(quantile(buckets, 200, 0.99)).toBe(1);
    expect(quantile([...buckets, { leSeconds: Number.POSITIVE_INFINITY, count: 200 }], 200, 0.99)).toBe(1);
  });

  it('are unknown where nothing was answered', () => {
    expect(quantile(buckets, 0, 0.5)).toBeUndefined();
    expect(quantile([], 0, 0.5)).toBeUndefined();
  });

  it('come from what happened between two readings', () => {
    expect(
      bucketDifference(buckets, [
        { leSeconds: 0.01, count: 60 },
        { leSeconds: 5, count: 7 },
      ]),
    ).toEqual([
      { leSeconds: 0.01, count: 10 },
      { leSeconds: 5, count: 7 },
    ]);
  });
});

describe('points of a plot', () => {
  it('are rates per second', () => {
    const before = reading({ atS: 0, requests: 100, buckets: [{ leSeconds: 0.01, count: 100 }] });
    const after = reading({ atS: 5, requests: 600, buckets: [{ leSeconds: 0.01, count: 600 }] });
    const point = pointOf(before, after);
    expect(point).toMatchObject({ requests: 100, errors: 0, waiting: 4 });
    expect(point.p50).toBeCloseTo(0.005);
  });

  it('are unknown at first, and when another process answers', () => {
    expect(pointOf(undefined, reading({ atS: 0 }))).not.toHaveProperty('requests');
    const other = pointOf(reading({ atS: 0, requests: 900 }), reading({ atS: 5, requests: 3, processId: 2 }));
    expect(other).toEqual({ atMs: expect.any(Number), waiting: 4 });
  });
});
