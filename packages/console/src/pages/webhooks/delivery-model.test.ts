import { describe, expect, it } from 'vitest';
import { type Delivery, fillBuckets, lastAnswer, RANGES, sinceOf, successRate, verdict } from './delivery-model.ts';

const NOW = Date.parse('2026-11-16T10:04:11Z');
const delivery = (change: Partial<Delivery>): Delivery => ({
  deliveryId: 'd',
  endpointId: 'e',
  eventId: 'v',
  eventType: 'ACTIVITY_UPDATES',
  organizationId: 'o',
  state: 'WEBHOOK_DELIVERY_STATE_PENDING',
  attempts: [],
  createdAt: '',
  updatedAt: '',
  ...change,
});

describe('deliveries in words', () => {
  it('tell the last answer and the next attempt', () => {
    const attempts = [{ attemptedAt: '', latencyMs: 84, status: 503 }];
    expect(lastAnswer(delivery({ attempts, nextAttemptAt: '2026-11-16T10:05:20Z' }), NOW)).toBe(
      '503 in 84 ms, again in 1 min',
    );
    expect(lastAnswer(delivery({ attempts: [{ attemptedAt: '', latencyMs: 9, error: 'TIMEOUT' }] }), NOW)).toBe(
      'no answer: TIMEOUT',
    );
    expect(lastAnswer(delivery({}), NOW)).toBe('not tried yet');
  });

  it('say why one failed', () => {
    const answered = (state: Delivery['state'], status: number): Delivery =>
      delivery({ state, attempts: [{ attemptedAt: '', latencyMs: 9, status }] });
    expect(verdict(answered('WEBHOOK_DELIVERY_STATE_FAILED', 410))?.text).toContain('the endpoint was switched off');
    expect(verdict(answered('WEBHOOK_DELIVERY_STATE_PENDING', 401))).toEqual({
      title: 'The receiver answered 401.',
      text: 'It refuses the signature, its age or the sender: check its clock and its keys. It is tried again.',
    });
    expect(verdict(answered('WEBHOOK_DELIVERY_STATE_DELIVERED', 200))).toBeUndefined();
    expect(verdict(delivery({}))).toBeUndefined();
  });
});

describe('success over time', () => {
  it('has a bucket for every span, also for quiet ones', () => {
    const sinceMs = sinceOf('24 h', NOW);
    expect(sinceMs % RANGES['24 h'].bucketMs).toBe(0);
    const startsAt = new Date(sinceMs + RANGES['24 h'].bucketMs).toISOString();
    const filled = fillBuckets([{ startsAt, succeeded: 2, failed: 1 }], sinceMs, '24 h');
    expect(filled).toHaveLength(48);
    expect(filled[0]).toMatchObject({ succeeded: 0, failed: 0 });
    expect(filled[1]).toEqual({ startsAt, succeeded: 2, failed: 1 });
  });

  it('is a rate only where something was tried', () => {
    expect(successRate(94, 6)).toBe('94.0 %');
    expect(successRate(0, 0)).toBeUndefined();
  });
});
