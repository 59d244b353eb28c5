import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  BROKEN_OFF,
  DELIVERED,
  deliveryOf,
  endpointOf,
  FakeDeliveries,
  REFUSED,
} from '../../../test/harness/webhook-fakes.ts';
import { ApiError } from '../../lib/errors.ts';
import type { Storage } from '../../storage/storage.ts';
import { Dispatcher } from './dispatcher.ts';
import type { WebhookEndpoint } from './model.ts';
import type { Receipt } from './poster/posting.ts';

// Time stands still but for what a test lets pass, so that a dispatcher's second takes none.

const SECOND = 1000;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const away = () => new ApiError('UNAVAILABLE', 'the database is away');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Sent {
  readonly by: string;
  readonly url: string;
  readonly id: string;
}

/** Receivers by their URL, and any number of dispatchers that send to them. */
function setUp(kind: Storage['kind'] = 'sqlite') {
  const stored = new FakeDeliveries();
  const sent: Sent[] = [];
  const inFlight = new Map<string, { readonly by: string; readonly breakOff: () => void }[]>();
  let answer: (url: string, id: string) => Promise<Receipt> | Receipt = () => DELIVERED;
  const observe = {
    delivery: vi.fn(),
    endpointDisabled: vi.fn(),
    unavailable: vi.fn(),
    deliveriesExpired: vi.fn(),
    internalError: vi.fn(),
  };
  const start = (by = 'one'): Dispatcher => {
    const dispatcher = new Dispatcher({
      // Fewer than there really are, so that tests can fill them.
      places: { all: 256, troubled: 64 },
      storage: stored.storage(kind),
      clock: Date.now,
      elapsed: Date.now,
      observe,
      sweep: async () => {},
      describe: async () => new Map(),
      breakOff: async () => {
        for (const each of [...inFlight.values()].flat()) if (each.by === by) each.breakOff();
      },
      send: async ({ url }, { id }) => ({
        signedAtMs: Date.now(),
        post: async () => {
          sent.push({ by, url, id });
          const here = inFlight.get(url) ?? [];
          inFlight.set(url, here);
          return await new Promise<Receipt>((resolve, reject) => {
            const mine = { by, breakOff: () => finish(BROKEN_OFF) };
            const finish = (receipt: Receipt): void => {
              here.splice(here.indexOf(mine), 1);
              resolve(receipt);
            };
            here.push(mine);
            Promise.resolve()
              .then(() => answer(url, id))
              .then(finish, (error) => {
                here.splice(here.indexOf(mine), 1);
                reject(error);
              });
          });
        },
      }),
    });
    dispatcher.start();
    return dispatcher;
  };
  let count = 0;
  /** With so many events that wait for it. */
  const add = (waiting = 1, queue: { failures?: number } = {}): WebhookEndpoint => {
    count += 1;
    const endpoint = endpointOf({ url: `https://receiver-${count}.example/` });
    const deliveries = times(waiting, () => deliveryOf(endpoint, { roundStartedAtMs: Date.now() }));
    stored.add(endpoint, deliveries, queue);
    return endpoint;
  };
  const tell = (endpoint: WebhookEndpoint): void => {
    const delivery = deliveryOf(endpoint, { roundStartedAtMs: Date.now() });
    stored.pending.set(delivery.id, delivery);
  };
  const sentTo = ({ url }: WebhookEndpoint): number => sent.filter((each) => each.url === url).length;
  const answerWith = (next: typeof answer): void => {
    answer = next;
  };
  return { stored, sent, inFlight, observe, start, add, tell, sentTo, answerWith };
}

/** Results of one batch are written down within this time. */
const COMMIT = 20;

const never = () => new Promise<never>(() => {});
/** As long as a receiver is waited for. */
const tooLate = async (): Promise<Receipt> => {
  await new Promise((resolve) => setTimeout(resolve, 10 * SECOND));
  return { latencyMs: 10_000, error: 'timeout' };
};

test('what was stored before it started is sent, and what comes later with a wake at once', async () => {
  const { start, add, tell, sentTo } = setUp();
  const endpoint = add(3);
  const dispatcher = start();
  await pass(COMMIT);
  expect(sentTo(endpoint)).toBe(3);
  tell(endpoint);
  dispatcher.wake([endpoint.id]);
  await pass(COMMIT);
  expect(sentTo(endpoint)).toBe(4);
  const other = add(1);
  dispatcher.wake([other.id]);
  await pass(COMMIT);
  expect(sentTo(other)).toBe(1);
  // Without a wake it is found a moment later.
  const third = add(1);
  await pass(2 * SECOND);
  expect(sentTo(third)).toBe(1);
  await dispatcher.stop();
});

test('a queue whose return was lost is not held for as long as there is another one', async () => {
  const { stored, start, add, tell, sentTo, answerWith } = setUp();
  const [endpoint, busy] = [add(1), add(1)];
  answerWith((url) => (url === busy.url ? never() : DELIVERED));
  let isAway = true;
  stored.before = (method) => {
    if (method !== 'releaseQueue' || !isAway) return;
    isAway = false;
    throw away();
  };
  const dispatcher = start();
  await pass(3 * SECOND);
  expect(isAway).toBe(false);
  tell(endpoint);
  await pass(20 * SECOND);
  expect(sentTo(endpoint)).toBe(2);
  expect(sentTo(busy)).toBe(1);
  const stopped = dispatcher.stop();
  await pass(10 * SECOND);
  await stopped;
});

test('endpoints in trouble, however many, take a part of the places only', async () => {
  const { start, add, sentTo, answerWith, inFlight } = setUp();
  const troubled = times(700, () => add(2, { failures: 9 }));
  const healthy = add(1);
  const urls = new Set(troubled.map(({ url }) => url));
  answerWith((url) => (urls.has(url) ? tooLate() : DELIVERED));
  const dispatcher = start();
  await pass(0);
  const busy = (): number => [...inFlight.values()].filter((here) => here.length > 0).length;
  expect(busy()).toBeGreaterThan(0);
  expect(busy()).toBeLessThanOrEqual(64);
  await pass(5 * SECOND);
  // It comes last in every list, and nobody has woken it.
  expect(sentTo(healthy)).toBe(1);
  // Nor do new events for them change that.
  dispatcher.wake(troubled.slice(300, 500).map(({ id }) => id));
  await pass(0);
  expect(busy()).toBeLessThanOrEqual(64);
  // In the end each of them was tried.
  await pass(300 * SECOND);
  expect(troubled.filter((endpoint) => sentTo(endpoint) === 0)).toEqual([]);
  const stopped = dispatcher.stop();
  await pass(20 * SECOND);
  await stopped;
});

test('endpoints that are slow and always busy do not keep others from their turn', async () => {
  const { start, add, tell, sentTo, answerWith } = setUp();
  const slow = times(300, () => add(1));
  const urls = new Map(slow.map((endpoint) => [endpoint.url, endpoint]));
  answerWith(async (url) => {
    const endpoint = urls.get(url);
    if (endpoint === undefined) return DELIVERED;
    // There is always one more.
    tell(endpoint);
    await new Promise((resolve) => setTimeout(resolve, 9 * SECOND));
    return DELIVERED;
  });
  const dispatcher = start();
  await pass(0);
  const late = add(1);
  dispatcher.wake([late.id]);
  await pass(60 * SECOND);
  expect(sentTo(late)).toBe(1);
  expect(slow.filter((endpoint) => sentTo(endpoint) === 0)).toEqual([]);
  const stopped = dispatcher.stop();
  await pass(20 * SECOND);
  await stopped;
});

test('a database that is away for a moment loses nothing and repeats nothing', async () => {
  const { stored, start, add, sent, observe } = setUp();
  const endpoints = times(5, () => add(3));
  let isAway = false;
  stored.before = () => {
    if (isAway) throw away();
  };
  const dispatcher = start();
  isAway = true;
  await pass(4 * SECOND);
  expect(sent).toEqual([]);
  expect(observe.unavailable).toHaveBeenCalledOnce();
  isAway = false;
  // It has looked less often meanwhile.
  await pass(4 * SECOND);
  expect(sent).toHaveLength(15);
  // And away between an answer and its being written down.
  stored.before = (method) => {
    if (method === 'record') isAway = true;
    if (isAway) throw away();
  };
  const [endpoint] = endpoints as [WebhookEndpoint];
  const delivery = deliveryOf(endpoint, { roundStartedAtMs: Date.now() });
  stored.pending.set(delivery.id, delivery);
  dispatcher.wake([endpoint.id]);
  await pass(12 * SECOND);
  expect(isAway).toBe(true);
  expect(sent).toHaveLength(16);
  expect(stored.pending.has(delivery.id)).toBe(true);
  stored.before = () => {};
  await vi.waitFor(() => expect(stored.pending.has(delivery.id)).toBe(false), 10 * SECOND);
  expect(stored.recorded.at(-1)).toMatchObject({ state: 'delivered', delivery: { id: delivery.id } });
  await pass(20 * SECOND);
  expect(sent).toHaveLength(16);
  await dispatcher.stop();
});

test('a keyring that is away costs no delivery an attempt', async () => {
  const { stored, start, add, sentTo, answerWith } = setUp();
  const endpoint = add(2);
  answerWith(() => Promise.reject(new Error('the keyring is away')));
  const dispatcher = start();
  await pass(12 * SECOND);
  // Tried again now and then, not in a loop.
  const attempts = sentTo(endpoint);
  expect(attempts).toBeGreaterThan(1);
  expect(attempts).toBeLessThan(6);
  expect(stored.recorded).toEqual([]);
  answerWith(() => DELIVERED);
  await pass(7 * SECOND);
  expect(stored.recorded.map(({ state, delivery }) => [state, delivery.failures])).toEqual([
    ['delivered', 0],
    ['delivered', 0],
  ]);
  await dispatcher.stop();
});

test('a stop waits for what is under way, breaks it off in the end and counts it as not tried', async () => {
  const { stored, start, add, answerWith, sent, inFlight } = setUp();
  const [quick, hanging] = [add(3), add(1)];
  answerWith(async (url) => {
    if (url === hanging.url) return await never();
    await new Promise((resolve) => setTimeout(resolve, 2 * SECOND));
    return DELIVERED;
  });
  const dispatcher = start();
  await pass(SECOND);
  const stopped = dispatcher.stop();
  const ended = vi.fn();
  void stopped.then(ended);
  await pass(4 * SECOND);
  expect(stored.recorded.map(({ delivery, state }) => [delivery.endpointId, state])).toEqual([[quick.id, 'delivered']]);
  expect(ended).not.toHaveBeenCalled();
  await pass(2 * SECOND);
  await stopped;
  expect(sent).toHaveLength(2);
  expect([...inFlight.values()].flat()).toEqual([]);
  expect(stored.recorded).toHaveLength(1);
  expect(stored.pending.size).toBe(3);
  for (const queue of stored.queues.values())
    expect(queue).toMatchObject({ owner: '', claimedUntilMs: 0, failures: 0 });
  // The next process goes on with it at once.
  answerWith(() => DELIVERED);
  const next = start('next');
  await pass(2 * COMMIT);
  expect(stored.pending.size).toBe(0);
  expect(sent).toHaveLength(5);
  await next.stop();
  // Stopping twice is fine, and a wake or a start afterwards does nothing.
  await dispatcher.stop();
  stored.add(quick, [deliveryOf(quick)]);
  dispatcher.wake();
  dispatcher.wake([quick.id]);
  dispatcher.start();
  await pass(5 * SECOND);
  expect(sent).toHaveLength(5);
});

test('a stop ends also when the database is away', async () => {
  const { stored, start, add, answerWith } = setUp();
  add(1);
  let isAway = false;
  answerWith(() => {
    isAway = true;
    return DELIVERED;
  });
  stored.before = () => {
    if (isAway) throw away();
  };
  const dispatcher = start();
  await pass(SECOND);
  const stopped = dispatcher.stop();
  await pass(20 * SECOND);
  await stopped;
  expect(stored.pending.size).toBe(1);
});

test('a killed process is followed after its claims are over, and no sooner', async () => {
  const { stored, start, add, sentTo } = setUp('postgres');
  const endpoint = add(2);
  Object.assign(stored.queues.get(endpoint.id) ?? {}, { owner: 'killed', claimedUntilMs: Date.now() + 10 * SECOND });
  const dispatcher = start();
  dispatcher.wake([endpoint.id]);
  await pass(9 * SECOND);
  expect(sentTo(endpoint)).toBe(0);
  await pass(3 * SECOND);
  expect(sentTo(endpoint)).toBe(2);
  await dispatcher.stop();
});

test('of an embedded database the claims of whoever was killed are over at once', async () => {
  const { stored, start, add, sentTo } = setUp('sqlite');
  const endpoint = add(2);
  Object.assign(stored.queues.get(endpoint.id) ?? {}, { owner: 'killed', claimedUntilMs: Date.now() + 10 * SECOND });
  const dispatcher = start();
  await pass(0);
  expect(sentTo(endpoint)).toBe(2);
  await pass(COMMIT);
  await dispatcher.stop();
});

test('several share the endpoints, and no two work on one at a time', async () => {
  const { stored, start, add, tell, answerWith, inFlight, sent } = setUp('postgres');
  const endpoints = times(20, () => add(5));
  let together = 0;
  answerWith(async (url, id) => {
    const isFirst = sent.filter((each) => each.id === id).length === 1;
    const here = inFlight.get(url) ?? [];
    together = Math.max(together, new Set(here.map(({ by }) => by)).size);
    await new Promise((resolve) => setTimeout(resolve, 700));
    return isFirst && sent.length % 5 === 0 ? REFUSED : DELIVERED;
  });
  const dispatchers = ['one', 'two', 'three'].map(start);
  for (let index = 0; index < 30; index += 1) {
    for (const endpoint of endpoints) tell(endpoint);
    dispatchers[index % 3]?.wake(endpoints.map(({ id }) => id));
    // Now and then long enough that they are given back.
    await pass(index % 5 === 0 ? 30 * SECOND : SECOND);
  }
  await pass(120 * SECOND);
  expect(together).toBe(1);
  expect(new Set(sent.map(({ by }) => by)).size).toBe(3);
  expect(stored.pending.size).toBe(0);
  expect(stored.recorded.filter(({ state }) => state === 'delivered')).toHaveLength(20 * 35);
  for (const dispatcher of dispatchers) {
    const stopped = dispatcher.stop();
    await pass(10 * SECOND);
    await stopped;
  }
});

test('who has lost a queue by being asleep for too long begins nothing more in it', async () => {
  const { stored, start, add, answerWith, sent } = setUp('postgres');
  const endpoint = add(3);
  answerWith(async () => {
    // As when a machine sleeps: another process has taken the queue when it wakes up.
    const queue = stored.queues.get(endpoint.id);
    if (queue !== undefined) Object.assign(queue, { owner: 'another', claimedUntilMs: Date.now() + 60 * SECOND });
    await new Promise((resolve) => setTimeout(resolve, 5 * SECOND));
    return DELIVERED;
  });
  const dispatcher = start();
  await pass(40 * SECOND);
  expect(sent).toHaveLength(1);
  // What came back all the same is written down, and the other one keeps its queue.
  expect(stored.recorded).toHaveLength(1);
  expect(stored.queues.get(endpoint.id)?.owner).toBe('another');
  await dispatcher.stop();
});
