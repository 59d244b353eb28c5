import { describe, expect, test } from 'vitest';
import { createRefreshed } from './refreshed.ts';

const SECOND = 1000;

function arrange(entriesMax = 10) {
  let nowMs = 1_000_000;
  const reports: string[] = [];
  const cache = createRefreshed<string>({
    entriesMax,
    clock: () => nowMs,
    report: (key, error) => void reports.push(`${key}: ${(error as Error).message}`),
  });
  const loads: { resolve(value: string): void; reject(error: Error): void }[] = [];
  const load = () =>
    new Promise<string>((resolve, reject) => {
      loads.push({ resolve, reject });
    });
  return {
    cache,
    loads,
    reports,
    get: (key = 'one', caip2 = 'eip155:1') => cache.get(caip2, key, load),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Loads a first value. */
async function loaded(entriesMax?: number) {
  const arranged = arrange(entriesMax);
  const first = arranged.get();
  await turn();
  arranged.loads[0]?.resolve('first');
  expect(await first).toBe('first');
  return arranged;
}

describe('what was loaded', () => {
  test('is loaded once for all who ask meanwhile', async () => {
    const { get, loads } = arrange();
    const asked = [get(), get(), get()];
    await turn();
    expect(loads).toHaveLength(1);
    loads[0]?.resolve('first');
    expect(await Promise.all(asked)).toEqual(['first', 'first', 'first']);
  });

  test('is fresh for 30 seconds', async () => {
    const { get, loads, pass } = await loaded();
    pass(30 * SECOND - 1);
    expect(await get()).toBe('first');
    await turn();
    expect(loads).toHaveLength(1);
  });

  test('is then served at once while one load runs', async () => {
    const { get, loads, pass } = await loaded();
    pass(30 * SECOND);
    expect([await get(), await get()]).toEqual(['first', 'first']);
    await turn();
    expect(loads).toHaveLength(2);
    loads[1]?.resolve('second');
    await turn();
    expect(await get()).toBe('second');
    expect(loads).toHaveLength(2);
  });

  test('is waited for after 10 minutes', async () => {
    const { get, loads, pass } = await loaded();
    pass(600 * SECOND);
    const asked = get();
    await turn();
    loads[1]?.resolve('second');
    expect(await asked).toBe('second');
  });

  test('stays within its age when loading fails, which is tried again by and by', async () => {
    const { get, loads, pass, reports } = await loaded();
    pass(30 * SECOND);
    expect(await get()).toBe('first');
    await turn();
    loads[1]?.reject(new Error('away'));
    await turn();
    expect(reports).toEqual(['eip155:1 one: away']);
    expect(await get()).toBe('first');
    await turn();
    expect(loads).toHaveLength(2);
    pass(5 * SECOND);
    expect(await get()).toBe('first');
    await turn();
    expect(loads).toHaveLength(3);
    loads[2]?.reject(new Error('away'));
    pass(600 * SECOND);
    await turn();
    const asked = get();
    await turn();
    loads[3]?.reject(new Error('still away'));
    await expect(asked).rejects.toThrow('still away');
  });

  test('is known without a load, however old, and not loaded again after the end', async () => {
    const { cache, get, loads, pass } = await loaded();
    pass(599 * SECOND);
    expect(cache.peek('eip155:1', 'one')).toBe('first');
    expect(cache.peek('eip155:1', 'two')).toBeUndefined();
    expect(cache.peek('eip155:2', 'one')).toBeUndefined();
    cache.close();
    expect(await get()).toBe('first');
    await turn();
    expect(loads).toHaveLength(1);
  });
});

test('only so many keys are remembered', async () => {
  const { cache, get, loads } = await loaded(1);
  const other = get('two');
  await turn();
  loads[1]?.resolve('other');
  await other;
  expect([cache.peek('eip155:1', 'one'), cache.peek('eip155:1', 'two')]).toEqual([undefined, 'other']);
});

test('a few load at a time, more wait, and too many are refused', async () => {
  const { get, loads } = arrange(1000);
  const asked = Array.from({ length: 72 }, (_, index) => get(String(index)));
  await turn();
  expect(loads).toHaveLength(8);
  await expect(get('one too many')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  // Another chain has a line of its own.
  const elsewhere = get('0', 'eip155:2');
  await turn();
  loads.splice(8, 1)[0]?.resolve('elsewhere');
  expect(await elsewhere).toBe('elsewhere');
  for (let done = 0; done < 72; done += 1) {
    loads[done]?.resolve(String(done));
    await turn();
  }
  expect(await Promise.all(asked)).toEqual(asked.map((_, index) => String(index)));
  const later = get('later');
  await turn();
  loads.at(-1)?.resolve('done');
  expect(await later).toBe('done');
});
