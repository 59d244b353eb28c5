import { vi } from 'vitest';
import type { Claim, Topic } from '../../src/workers/claim.ts';
import type { Hold } from '../../src/workers/hold.ts';
import type { Lease } from '../../src/workers/lease.ts';
import type { Strategy, Unserved } from '../../src/workers/strategy.ts';
import { LeasedWorker } from '../../src/workers/worker.ts';

export type FakeClaim = Claim & { readonly token: number };
type FakeStrategy = Strategy<Topic, FakeClaim, string>;

export const NOBODY_HELD: Hold = { isUp: false, isWhole: false, holds: async () => false };

/** Something that a test ends when it wants to. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve: (value: T) => resolve(value), reject: (error: unknown) => reject(error) };
}

/** Lets what can go on go on, and so much time pass. */
export const pass = (milliseconds = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

/** A worker whose database and work the test plays, on the time of fake timers. */
export function leasedWork(overrides: Partial<FakeStrategy> = {}, hold: Hold = NOBODY_HELD) {
  const work = {
    /** What a poll finds. */
    due: [] as Topic[],
    isAway: false,
    looks: 0,
    /** Keys, in the order in which they were claimed; also of claims that failed. */
    claimed: [] as string[],
    serving: new Map<string, { readonly lease: Lease<FakeClaim>; readonly end: (value?: string) => void }>(),
    mostAtOnce: 0,
    released: [] as { readonly key: string; readonly token: number; readonly end: string | Unserved }[],
    failed: vi.fn(),
    recovered: vi.fn(),
  };
  let token = 0;
  const reach = (): void => {
    if (work.isAway) throw new Error('the database is away');
  };
  const strategy: FakeStrategy = {
    limits: { all: 8 },
    topics: 'claim',
    lease: { ms: 10_000, renewEveryMs: 3000 },
    pollEveryMs: 1000,
    stopMs: 6000,
    async due() {
      work.looks += 1;
      reach();
      return work.due.splice(0);
    },
    async claim({ key, group }) {
      work.claimed.push(key);
      reach();
      token += 1;
      return [{ key, group, token }];
    },
    async renew(claims) {
      reach();
      return claims.map(({ key }) => ({ key }));
    },
    async serve(lease) {
      const { promise, resolve } = deferred<string>();
      const { key } = lease.claim;
      work.serving.set(key, { lease, end: (value = 'done') => resolve(value) });
      work.mostAtOnce = Math.max(work.mostAtOnce, work.serving.size);
      lease.signal.addEventListener('abort', () => resolve('aborted'));
      try {
        return await promise;
      } finally {
        work.serving.delete(key);
      }
    },
    async release({ key, token: held }, end) {
      reach();
      work.released.push({ key, token: held, end });
      return undefined;
    },
    ...overrides,
  };
  const clock = () => performance.now();
  const { failed, recovered } = work;
  const worker = new LeasedWorker(strategy, { clock, elapsed: clock, hold, observe: { failed, recovered } });
  /** Ends the work on a claim and lets what follows happen. */
  const end = async (key: string, value?: string): Promise<void> => {
    work.serving.get(key)?.end(value);
    await pass();
  };
  const leaseOf = (key: string): Lease<FakeClaim> => {
    const found = work.serving.get(key);
    if (found === undefined) throw new Error(`nobody works on ${key}`);
    return found.lease;
  };
  return { worker, work, end, leaseOf };
}

export const topics = (...keys: string[]): Topic[] => keys.map((key) => ({ key }));
