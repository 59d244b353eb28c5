import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import {
  BROKEN_OFF,
  DELIVERED,
  deliveryOf,
  endpointOf,
  FakeDeliveries,
  ORGANIZATION,
  REFUSED,
} from '../../../test/harness/webhook-fakes.ts';
import { Lease } from '../../workers/lease.ts';
import { EndpointQueue, type QueueEnd } from './endpoint-queue.ts';
import { createGate } from './gate.ts';
import type { DueDelivery, WebhookEndpoint } from './model.ts';
import type { Receipt } from './poster/posting.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import type { WebhookSender } from './sender.ts';

const NOW = 1_800_000_000_000;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value: T) => resolve(value) };
}

/** An endpoint queue over stored deliveries, whose receiver the test plays. */
function setUp({ failures = 0, endpoint = endpointOf() } = {}) {
  const stored = new FakeDeliveries();
  const time = { nowMs: NOW };
  const sent: string[] = [];
  const inFlight = { now: 0, max: 0 };
  let answer: (delivery: { readonly id: string; readonly body: string }) => Promise<Receipt> | Receipt = () =>
    DELIVERED;
  const signing = { now: 0, max: 0, count: 0 };
  let sign: (event: { readonly id: string }) => Promise<void> | void = () => {};
  const send: WebhookSender = async (_endpoint, event) => {
    signing.count += 1;
    signing.now += 1;
    await sign(event);
    const signedAtMs = time.nowMs;
    const post = async (): Promise<Receipt> => {
      signing.now -= 1;
      sent.push(event.id);
      inFlight.now += 1;
      inFlight.max = Math.max(inFlight.max, inFlight.now);
      signing.max = Math.max(signing.max, signing.now);
      try {
        return await answer(event);
      } finally {
        inFlight.now -= 1;
      }
    };
    return { signedAtMs, post };
  };
  const storage = stored.storage();
  const end = new AbortController();
  const observe = {
    delivery: () => {},
    endpointDisabled: () => {},
    unavailable: () => {},
    deliveriesExpired: () => {},
    internalError: () => {},
  };
  const recorder = createRecorder(storage, () => time.nowMs, observe, end.signal);
  const queueOver = (instead: Recorder = recorder) => {
    const clock = () => time.nowMs;
    const lease = new Lease({ key: endpoint.id, organizationId: ORGANIZATION, failures }, NOW + 10_000, clock);
    const queue = new EndpointQueue(
      { storage, clock, elapsed: clock, send, describe: async (due) => due, recorder: instead, large: createGate(1) },
      lease,
    );
    return { lease, run: () => queue.run() };
  };
  const add = (count: number, extra: (index: number) => Partial<DueDelivery> = () => ({})): DueDelivery[] => {
    const deliveries = times(count, (index) => deliveryOf(endpoint, { roundStartedAtMs: NOW, ...extra(index) }));
    stored.add(endpoint, deliveries);
    return deliveries;
  };
  /** Until there is nothing more to send, without the time that a queue waits for more. */
  const run = async (queue = queueOver()): Promise<QueueEnd> => {
    stored.emptied = () => queue.lease.end();
    return await queue.run();
  };
  return {
    stored,
    time,
    sent,
    inFlight,
    run,
    endpoint: endpoint as WebhookEndpoint,
    queueOver,
    add,
    signing,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    signWith: (next: typeof sign) => {
      sign = next;
    },
  };
}

const eventIds = (deliveries: readonly DueDelivery[]): string[] => deliveries.map(({ eventId }) => eventId);

afterEach(() => {
  vi.useRealTimers();
});

test('a few are sent one after the other, in their order', async () => {
  const { add, sent, signing, inFlight, answerWith, run } = setUp();
  const deliveries = add(31);
  answerWith(async () => {
    await turn();
    return DELIVERED;
  });
  expect(await run()).toEqual({ failures: 0, restingUntilMs: 0 });
  expect(sent).toEqual(eventIds(deliveries));
  expect([inFlight.max, signing.max]).toEqual([1, 0]);
});

test('of very many, sixteen are sent at a time', async () => {
  const { add, sent, inFlight, answerWith, stored, run } = setUp();
  const deliveries = add(200);
  answerWith(async () => {
    await turn();
    return DELIVERED;
  });
  await run();
  expect(new Set(sent)).toEqual(new Set(eventIds(deliveries)));
  expect(sent).toHaveLength(200);
  expect(inFlight.max).toBe(16);
  expect(stored.pending.size).toBe(0);
});

test('the next ones are sent while results are being written down, and none of those twice', async () => {
  const { add, sent, queueOver, stored, endpoint } = setUp();
  const deliveries = add(200);
  const late = deferred<void>();
  const all = deferred<void>();
  const noted: string[] = [];
  const queue = queueOver({
    record: async (_endpoint, { delivery }) => {
      noted.push(delivery.id);
      if (noted.length === 192) all.resolve();
      await late.promise;
      stored.pending.delete(delivery.id);
    },
  });
  stored.emptied = () => queue.lease.end();
  const ended = queue.run();
  // Two batches; for the third the results of the first are waited for.
  await all.promise;
  expect(sent).toEqual(eventIds(deliveries.slice(0, 192)));
  // One that was stored late, in front of where the queue is, and a retry that has become due.
  const added = [deliveryOf(endpoint, { seq: 0.5 }), deliveryOf(endpoint, { nextAttemptAtMs: NOW, failures: 1 })];
  stored.add(endpoint, added);
  late.resolve();
  await ended;
  expect(new Set(sent)).toEqual(new Set(eventIds([...deliveries, ...added])));
  expect(sent).toHaveLength(202);
  expect(stored.pending.size).toBe(0);
});

test('a retry that is written down while the next ones are read is not sent again', async () => {
  const { add, sent, queueOver, stored } = setUp();
  const retry = { nextAttemptAtMs: NOW, failures: 1 };
  const deliveries = add(200, (index) => (index === 199 ? retry : {}));
  const late = deferred<void>();
  const queue = queueOver({
    record: async (_endpoint, { delivery }) => {
      await late.promise;
      stored.pending.delete(delivery.id);
    },
  });
  stored.emptied = () => queue.lease.end();
  let reads = 0;
  stored.afterRead = async () => {
    reads += 1;
    if (reads !== 2) return;
    late.resolve();
    await turn();
  };
  await queue.run();
  expect(reads).toBeGreaterThan(2);
  expect(sent).toHaveLength(200);
  expect(new Set(sent)).toEqual(new Set(eventIds(deliveries)));
});

test('nothing more is read for an endpoint that is gone before that is written down', async () => {
  const { add, sent, queueOver, stored, answerWith, endpoint } = setUp();
  const deliveries = add(128);
  answerWith(({ id }) => (id === deliveries[95]?.eventId ? { latencyMs: 1, status: 410 } : DELIVERED));
  const queue = queueOver({
    record: async (_endpoint, { outcome, delivery }) => {
      await turn();
      await turn();
      stored.pending.delete(delivery.id);
      if (outcome === 'gone') stored.endpoints.set(endpoint.id, { ...endpoint, isActive: false });
    },
  });
  stored.emptied = () => queue.lease.end();
  await queue.run();
  expect(sent).toEqual(eventIds(deliveries.slice(0, 96)));
});

test('of very many, some are signed meanwhile, and once more where that was long ago', async () => {
  const { add, sent, signing, inFlight, answerWith, queueOver, stored, time } = setUp();
  const deliveries = add(60);
  const slow = deferred<void>();
  answerWith(async () => {
    await slow.promise;
    return DELIVERED;
  });
  const queue = queueOver();
  stored.emptied = () => queue.lease.end();
  const running = queue.run();
  await vi.waitFor(() => expect(inFlight.now).toBe(16));
  expect([signing.count, signing.now]).toEqual([32, 16]);
  time.nowMs += 1001;
  slow.resolve();
  await running;
  expect(sent).toEqual(eventIds(deliveries));
  expect(signing.count).toBe(60 + 16);
  expect(inFlight.max).toBe(16);
});

test('what was signed and not sent is no concern of anybody', async () => {
  const { add, sent, answerWith, signWith, run } = setUp({ failures: 2 });
  const deliveries = add(60);
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  try {
    signWith(async ({ id }) => {
      if (eventIds(deliveries).indexOf(id) >= 16) throw new Error('the keyring is away');
    });
    answerWith(() => REFUSED);
    expect(await run()).toMatchObject({ failures: 3 });
    expect(sent).toHaveLength(16);
    await turn();
    await turn();
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

test('where one cannot be signed, the queue is left only when the others have ended', async () => {
  const { add, queueOver, answerWith, stored, inFlight } = setUp();
  const deliveries = add(200);
  const slow = deferred<Receipt>();
  let isBroken = false;
  answerWith(async ({ id }) => {
    await turn();
    if (inFlight.max < 16) return DELIVERED;
    if (isBroken) return await slow.promise;
    isBroken = true;
    throw new Error(`no signature for ${id}`);
  });
  const ended = vi.fn();
  const running = queueOver().run().catch(ended);
  await vi.waitFor(() => expect(inFlight.now).toBe(15));
  await turn();
  await turn();
  expect(ended).not.toHaveBeenCalled();
  slow.resolve(DELIVERED);
  await running;
  expect(ended).toHaveBeenCalledOnce();
  // What the others have delivered is written down, and what could not be signed is still there.
  expect(inFlight.now).toBe(0);
  expect(stored.pending.size).toBeGreaterThan(0);
  expect(stored.pending.size + stored.recorded.length).toBe(deliveries.length);
});

test('a result that cannot be written down ends the queue and nothing else', async () => {
  const { add, queueOver, answerWith, inFlight } = setUp();
  add(200);
  const slow = deferred<Receipt>();
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  try {
    let count = 0;
    answerWith(async () => {
      await turn();
      count += 1;
      return inFlight.max === 16 && count % 2 === 0 ? await slow.promise : DELIVERED;
    });
    const failing: Recorder = { record: () => Promise.reject(new Error('the database is away')) };
    const running = expect(queueOver(failing).run()).rejects.toThrow('the database is away');
    await vi.waitFor(() => expect(inFlight.now).toBeGreaterThan(0));
    for (let index = 0; index < 20; index += 1) await turn();
    slow.resolve(DELIVERED);
    await running;
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

test('the third failure in a row gives the endpoint a rest, and each further one a longer one', async () => {
  const rests: number[] = [];
  for (let failures = 0; failures < 10; failures += 1) {
    const { add, answerWith, stored, run } = setUp({ failures });
    add(1);
    answerWith(() => REFUSED);
    const end = await run();
    expect(end.failures).toBe(failures + 1);
    rests.push(end.restingUntilMs === 0 ? 0 : (end.restingUntilMs - NOW) / 1000);
    expect(stored.recorded).toHaveLength(1);
  }
  expect(rests).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('answers that refuse one delivery delay that one alone, however many there are', async () => {
  const { add, answerWith, stored, sent, inFlight, run } = setUp();
  const deliveries = add(200);
  // The receiver would like to be left alone, which is for the delivery to heed.
  answerWith(async () => {
    await turn();
    return { latencyMs: 1, status: 404, retryAfter: '3000' };
  });
  expect(await run()).toEqual({ failures: 0, restingUntilMs: 0 });
  expect(new Set(sent)).toEqual(new Set(eventIds(deliveries)));
  expect([sent.length, inFlight.max]).toEqual([200, 16]);
  expect(new Set(stored.recorded.map(({ state, nextAttemptAtMs }) => `${state} ${nextAttemptAtMs}`))).toEqual(
    new Set([`pending ${NOW + 3_000_000}`]),
  );
});

test('an answer of whatever kind ends the trouble of an endpoint', async () => {
  const { add, answerWith, run } = setUp({ failures: 5 });
  add(1);
  answerWith(() => ({ latencyMs: 1, status: 403 }));
  expect(await run()).toEqual({ failures: 0, restingUntilMs: 0 });
});

test('an endpoint in trouble is tried with one event and one retry, and gets the rest once it answers', async () => {
  const { add, stored, sent, answerWith, run } = setUp({ failures: 5 });
  const fresh = add(20);
  const retries = add(3, (index) => ({ nextAttemptAtMs: NOW - 1000 + index, failures: 2 }));
  answerWith(() => REFUSED);
  const end = await run();
  expect(stored.batches).toEqual([{ fresh: 1, retries: 1 }]);
  expect(sent).toEqual(eventIds(fresh.slice(0, 1)));
  expect(end.failures).toBe(6);
  answerWith(() => DELIVERED);
  sent.length = 0;
  expect((await run()).failures).toBe(0);
  expect(new Set(sent)).toEqual(new Set(eventIds([...fresh.slice(1), ...retries])));
  // The oldest first, with the retry that was the longest due.
  expect(sent.slice(0, 2)).toEqual([fresh[1]?.eventId, retries[0]?.eventId]);
});

test.each([
  ['that it asks for', '20', 20],
  ['of a minute at most', '86400', 60],
  ['until a date', new Date(NOW + 7000).toUTCString(), 7],
  ['unless it asks for none', '0', 0],
])('a receiver is given the rest %s', async (_what, retryAfter, seconds) => {
  const { add, answerWith, sent, run } = setUp();
  const deliveries = add(3);
  answerWith(({ id }) => (id === deliveries[0]?.eventId ? { latencyMs: 1, status: 429, retryAfter } : DELIVERED));
  const end = await run();
  expect(end.restingUntilMs).toBe(seconds === 0 ? 0 : NOW + seconds * 1000);
  expect(sent).toHaveLength(seconds === 0 ? 3 : 1);
});

test('what is broken off by the end is not counted, what was answered is', async () => {
  const { add, queueOver, answerWith, stored } = setUp();
  const [first] = add(3) as [DueDelivery];
  const queue = queueOver();
  answerWith(() => {
    queue.lease.end();
    return BROKEN_OFF;
  });
  expect(await queue.run()).toEqual({ failures: 0, restingUntilMs: 0 });
  expect(stored.recorded).toEqual([]);
  const second = queueOver();
  answerWith(() => {
    second.lease.end();
    return DELIVERED;
  });
  await second.run();
  expect(stored.recorded.map(({ delivery, state }) => [delivery.id, state])).toEqual([[first.id, 'delivered']]);
});

test('an attempt that failed while the lease had run out counts, since the lease may still be prolonged', async () => {
  const { add, answerWith, stored, time, queueOver } = setUp();
  const [delivery] = add(1);
  const queue = queueOver();
  answerWith(() => {
    time.nowMs += 11_000;
    return BROKEN_OFF;
  });
  await queue.run();
  expect(stored.recorded).toMatchObject([{ delivery: { id: delivery?.id }, state: 'pending' }]);
});

test('nothing more is sent to an endpoint that is gone, nor to one that was switched off', async () => {
  const { add, answerWith, stored, sent, endpoint, run } = setUp();
  add(5);
  answerWith(() => ({ latencyMs: 1, status: 410 }));
  await run();
  expect(sent).toHaveLength(1);
  expect(stored.endpoints.get(endpoint.id)?.isActive).toBe(false);
  await run();
  expect(sent).toHaveLength(1);
});

test('an endpoint that moved while it answered 410 stays switched on', async () => {
  const { add, answerWith, stored, sent, endpoint, run } = setUp();
  add(2);
  const urls: string[] = [];
  answerWith(() => {
    urls.push(stored.endpoints.get(endpoint.id)?.url ?? '');
    stored.endpoints.set(endpoint.id, { ...endpoint, url: 'https://moved.example/' });
    return urls.length === 1 ? { latencyMs: 1, status: 410 } : DELIVERED;
  });
  await run();
  expect(sent).toHaveLength(2);
  expect(urls).toEqual(['https://receiver.example/', 'https://moved.example/']);
  expect(stored.endpoints.get(endpoint.id)?.isActive).toBe(true);
});

test('nothing is begun after the claim is over', async () => {
  const { add, answerWith, sent, time, stored, run } = setUp();
  add(3);
  answerWith(() => {
    time.nowMs += 10_000;
    return DELIVERED;
  });
  await run();
  expect(sent).toHaveLength(1);
  expect(stored.recorded).toHaveLength(1);
  expect(stored.pending.size).toBe(2);
});

test('a claim that is renewed goes on', async () => {
  const { add, queueOver, answerWith, sent, time, run } = setUp();
  add(3);
  const queue = queueOver();
  answerWith(() => {
    time.nowMs += 9000;
    queue.lease.keep(time.nowMs + 10_000);
    return DELIVERED;
  });
  await run(queue);
  expect(sent).toHaveLength(3);
});

test('what comes while it looks for the last time is sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { add, queueOver, sent, stored } = setUp();
  add(1);
  const queue = queueOver();
  let looks = 0;
  stored.before = (method) => {
    looks += method === 'batch' ? 1 : 0;
    // The event is committed when the queue, which was idle for a second, has read and not yet got the answer.
    if (method !== 'batch' || looks !== 3) return;
    queueMicrotask(() => {
      add(1);
      queue.lease.wake();
    });
  };
  let hasEnded = false;
  const running = queue.run().then(() => {
    hasEnded = true;
  });
  while (!hasEnded) await vi.advanceTimersByTimeAsync(1000);
  await running;
  expect(sent).toHaveLength(2);
});
