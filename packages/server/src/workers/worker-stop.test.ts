import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deferred, type FakeClaim, leasedWork, pass, topics } from '../../test/harness/leased-work.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Stops, and tells whether that has ended. */
function stop(worker: { stop(): Promise<void> }) {
  const state = { hasStopped: false };
  void worker.stop().then(() => {
    state.hasStopped = true;
  });
  return state;
}

test('a stop claims nothing more, lets what runs finish, gives it back and leaves no timer', async () => {
  const releaseAll = vi.fn(async () => {});
  const { worker, work, end, leaseOf } = leasedWork({ limits: { all: 1 }, releaseAll });
  worker.start();
  worker.wake(topics('a', 'b'));
  await pass();
  const lease = leaseOf('a');
  const state = stop(worker);
  expect([lease.isOver, lease.signal.aborted]).toEqual([true, false]);
  worker.wake(topics('c'));
  work.due = topics('d');
  await pass(5000);
  expect([state.hasStopped, releaseAll.mock.calls.length]).toEqual([false, 0]);
  await end('a');
  expect([state.hasStopped, releaseAll.mock.calls.length]).toEqual([true, 1]);
  expect(work.released).toEqual([{ key: 'a', token: 1, end: 'done' }]);
  expect(work.claimed).toEqual(['a']);
  expect(vi.getTimerCount()).toBe(0);
  worker.start();
  worker.wake(topics('a'));
  worker.wake();
  await worker.stop();
  await pass(5000);
  expect([work.claimed, work.looks]).toEqual([['a'], 1]);
});

test('work that rests does not hold up a stop', async () => {
  const { worker, work } = leasedWork({
    serve: async (lease) => {
      while (!lease.isOver) await lease.rest(60_000);
      return 'rested';
    },
  });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  const state = stop(worker);
  await pass();
  expect(state.hasStopped).toBe(true);
  expect(work.released).toMatchObject([{ key: 'a', end: 'rested' }]);
});

test('what takes too long is broken off, and given back all the same', async () => {
  const breakOff = vi.fn();
  const { worker, work } = leasedWork({ breakOff });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  const state = stop(worker);
  await pass(5999);
  expect([state.hasStopped, breakOff.mock.calls.length]).toEqual([false, 0]);
  await pass(1);
  expect([state.hasStopped, breakOff.mock.calls.length]).toEqual([true, 1]);
  expect(work.released).toMatchObject([{ key: 'a', end: 'aborted' }]);
});

test('a stop ends a moment later also where work does not end', async () => {
  const { worker } = leasedWork({ serve: () => new Promise(() => {}) });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  const state = stop(worker);
  await pass(7999);
  expect(state.hasStopped).toBe(false);
  await pass(1);
  expect(state.hasStopped).toBe(true);
});

test('what is claimed while a stop begins is given back untouched', async () => {
  const claiming = deferred<FakeClaim[]>();
  const { worker, work } = leasedWork({ claim: () => claiming.promise });
  worker.start();
  worker.wake(topics('a'));
  await pass();
  const state = stop(worker);
  await pass();
  expect(state.hasStopped).toBe(false);
  claiming.resolve([{ key: 'a', token: 1 }]);
  await pass();
  expect(work.released).toEqual([{ key: 'a', token: 1, end: 'untouched' }]);
  expect(work.mostAtOnce).toBe(0);
  expect(state.hasStopped).toBe(true);
});

test('a database that is away holds a stop up for its time and no longer', async () => {
  const { worker, work, end } = leasedWork();
  worker.start();
  worker.wake(topics('a'));
  await pass();
  work.isAway = true;
  await end('a');
  const state = stop(worker);
  await pass(5900);
  expect(state.hasStopped).toBe(false);
  await pass(100);
  expect(state.hasStopped).toBe(true);
  expect(work.released).toEqual([]);
});

test('one that was never started stops at once', async () => {
  const { worker, work } = leasedWork();
  await worker.stop();
  worker.start();
  await pass(2000);
  expect(work.looks).toBe(0);
});
