import { expect, test, vi } from 'vitest';
import { BROKEN_OFF, DELIVERED, deliveryOf, endpointOf, FakeDeliveries } from '../../../test/harness/webhook-fakes.ts';
import type { Receipt } from './poster/posting.ts';
import { createRecorder } from './recorder.ts';
import { resultOf } from './result.ts';

const NOW = 1_800_000_000_000;

function setUp() {
  const stored = new FakeDeliveries();
  const endpoint = endpointOf();
  stored.add(endpoint);
  const calls = { record: 0 };
  stored.before = (method) => {
    if (method === 'record') calls.record += 1;
  };
  const observe = {
    delivery: vi.fn(),
    endpointDisabled: vi.fn(),
    unavailable: vi.fn(),
    deliveriesExpired: vi.fn(),
    internalError: vi.fn(),
  };
  const end = new AbortController();
  const recorder = createRecorder(stored.storage(), () => NOW, observe, end.signal);
  const record = (receipt: Receipt = DELIVERED) => {
    const delivery = deliveryOf(endpoint, { roundStartedAtMs: NOW });
    stored.pending.set(delivery.id, delivery);
    return recorder.record(endpoint, resultOf(delivery, receipt, NOW, NOW, 0.5));
  };
  return { stored, endpoint, calls, observe, end, record };
}

test('results that come during a commit are written down with the next one', async () => {
  const { record, calls, stored, observe } = setUp();
  await Promise.all(Array.from({ length: 600 }, () => record()));
  // The first one at once and alone, and then at most 128 together.
  expect(calls.record).toBe(1 + Math.ceil(599 / 128));
  expect(stored.recorded).toHaveLength(600);
  expect(stored.pending.size).toBe(0);
  expect(observe.delivery).toHaveBeenCalledTimes(600);
});

test('nobody is told that a result is written down before it is', async () => {
  const { record, stored } = setUp();
  let tries = 0;
  stored.before = () => {
    tries += 1;
    if (tries < 3) throw new Error('away');
    expect(told).not.toHaveBeenCalled();
  };
  const told = vi.fn();
  await record().then(told);
  expect(tries).toBe(3);
  expect(stored.recorded).toHaveLength(1);
});

test('it tries for as long as it may, reports once, and gives up at the end', async () => {
  const { record, stored, observe, end } = setUp();
  let tries = 0;
  stored.before = () => {
    tries += 1;
    if (tries === 3) end.abort();
    throw new Error('away');
  };
  const results = await Promise.allSettled([record(), record(BROKEN_OFF)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // The second one was given up at once: it was the end.
  expect(tries).toBe(4);
  expect(observe.unavailable).toHaveBeenCalledOnce();
  expect(observe.delivery).not.toHaveBeenCalled();
  expect(stored.pending.size).toBe(2);
});

test('an endpoint that is gone is switched off once, with the result, unless it goes elsewhere by now', async () => {
  const { record, stored, endpoint, observe } = setUp();
  const gone = { latencyMs: 1, status: 410 };
  stored.endpoints.set(endpoint.id, { ...endpoint, url: 'https://elsewhere.example/' });
  await record(gone);
  expect(stored.endpoints.get(endpoint.id)?.isActive).toBe(true);
  stored.endpoints.set(endpoint.id, endpoint);
  await Promise.all([record(gone), record(gone)]);
  expect(stored.endpoints.get(endpoint.id)?.isActive).toBe(false);
  expect(observe.endpointDisabled).toHaveBeenCalledOnce();
  expect(stored.recorded.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
});
