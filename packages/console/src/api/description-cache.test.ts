import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DescriptionCache } from './description-cache.ts';
import type { Description } from './types.ts';

const described = (activityId: string, text = activityId): Description => ({ activityId, text }) as Description;

describe('sentences of rows', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const cacheOf = (
    answer: (ids: readonly string[]) => readonly Description[] = (ids) => ids.map((id) => described(id)),
  ) => {
    const asked: (readonly string[])[] = [];
    const cache = new DescriptionCache((ids) => {
      asked.push(ids);
      return Promise.resolve().then(() => answer(ids));
    });
    return { asked, cache };
  };
  const nothing = (): void => {};

  test('are asked for together, and told once they are known', async () => {
    const { asked, cache } = cacheOf();
    const changed = vi.fn();
    cache.watch('one', changed);
    cache.watch('two', nothing);
    expect(cache.get('one')).toBeUndefined();
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toEqual([['one', 'two']]);
    expect(changed).toHaveBeenCalledOnce();
    expect(cache.get('one')).toEqual(described('one'));
  });

  test('are asked for a hundred at a time', async () => {
    const { asked, cache } = cacheOf();
    for (let row = 0; row < 250; row += 1) cache.watch(`row ${row}`, nothing);
    await vi.advanceTimersByTimeAsync(300);
    expect(asked.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  test('are not asked for where the row was scrolled past', async () => {
    const { asked, cache } = cacheOf();
    const end = cache.watch('passed', nothing);
    cache.watch('seen', nothing);
    end();
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toEqual([['seen']]);
    expect(cache.size).toBe(1);
  });

  test('are asked for within a fifth of a second though the scroll goes on', async () => {
    const { asked, cache } = cacheOf();
    cache.watch('stays', nothing);
    for (let frame = 0; frame < 12; frame += 1) {
      const end = cache.watch(`frame ${frame}`, nothing);
      await vi.advanceTimersByTimeAsync(20);
      end();
    }
    expect(asked[0]).toContain('stays');
  });

  test('stay known when a row comes back, and are asked for again when they are old', async () => {
    const { asked, cache } = cacheOf();
    cache.watch('one', nothing)();
    const end = cache.watch('one', nothing);
    await vi.advanceTimersByTimeAsync(300);
    end();
    expect(cache.get('one')).toEqual(described('one'));
    cache.watch('one', nothing)();
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(61_000);
    cache.watch('one', nothing);
    expect(cache.get('one')).toEqual(described('one'));
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toHaveLength(2);
  });

  test('are forgotten after a thousand others', async () => {
    const { cache } = cacheOf();
    for (let row = 0; row < 3000; row += 1) {
      const end = cache.watch(`row ${row}`, nothing);
      if (row % 50 === 0) await vi.advanceTimersByTimeAsync(300);
      else vi.advanceTimersByTime(40);
      await vi.advanceTimersByTimeAsync(0);
      end();
    }
    expect(cache.size).toBeLessThanOrEqual(1000);
    expect(cache.get('row 0')).toBeUndefined();
    expect(cache.get('row 2999')).toEqual(described('row 2999'));
  });

  test('are asked for again after a failure, while the row is in view', async () => {
    let isAway = true;
    const { asked, cache } = cacheOf((ids) => {
      if (isAway) throw new Error('away');
      return ids.map((id) => described(id));
    });
    cache.watch('stays', nothing);
    const end = cache.watch('goes', nothing);
    await vi.advanceTimersByTimeAsync(300);
    end();
    isAway = false;
    await vi.advanceTimersByTimeAsync(6_000);
    expect(asked).toEqual([['stays', 'goes'], ['stays']]);
    expect(cache.get('stays')).toEqual(described('stays'));
  });

  test('are null where the service has none', async () => {
    const { asked, cache } = cacheOf(() => []);
    cache.watch('unknown', nothing);
    await vi.advanceTimersByTimeAsync(300);
    expect(cache.get('unknown')).toBeNull();
    cache.watch('unknown', nothing);
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toHaveLength(1);
  });

  test('count each watcher of a row', async () => {
    const { cache } = cacheOf();
    const [first, second] = [vi.fn(), vi.fn()];
    const end = cache.watch('one', first);
    cache.watch('one', second);
    end();
    end();
    await vi.advanceTimersByTimeAsync(300);
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
  });
});
