import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Concern } from './concerns.ts';
import type { Pick } from './pages.ts';
import { Refresher, refresh } from './refresh-queries.ts';

describe('news in bursts', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('are asked for at most once a second, and the last ones always', () => {
    const asked: Concern[] = [];
    const refresher = new Refresher((concern) => asked.push(concern));
    for (let at = 0; at < 30; at += 1) {
      refresher.add([/a/]);
      vi.advanceTimersByTime(100);
    }
    expect(asked.length).toBe(3);
    refresher.add('everything');
    vi.advanceTimersByTime(1000);
    expect(asked.at(-1)).toBe('everything');
    const count = asked.length;
    vi.advanceTimersByTime(5000);
    expect(asked.length).toBe(count);
  });
});

describe('refreshing', () => {
  const api = (method: string) => ['api', ['user', 'organization'], method, {}];

  test('asks again only for what is shown and concerned', async () => {
    const queries = new QueryClient();
    const counts: Record<string, number> = {};
    const watch = (method: string) => {
      const queryFn = async () => {
        counts[method] = (counts[method] ?? 0) + 1;
        return counts[method];
      };
      return new QueryObserver(queries, { queryKey: api(method), queryFn, staleTime: 60_000 }).subscribe(
        () => undefined,
      );
    };
    const stops = ['listWallets', 'listPolicies'].map(watch);
    await vi.waitFor(() => expect(counts).toEqual({ listWallets: 1, listPolicies: 1 }));
    refresh(queries, [/wallet/i]);
    await vi.waitFor(() => expect(counts).toEqual({ listWallets: 2, listPolicies: 1 }));
    for (const stop of stops) stop();
  });

  test('what is on its way is asked for once more behind it', async () => {
    const queries = new QueryClient();
    const answers: ((value: string) => void)[] = [];
    const observer = new QueryObserver<string>(queries, {
      queryKey: api('getApproval'),
      queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
    });
    const stop = observer.subscribe(() => undefined);
    refresh(queries);
    expect(answers).toHaveLength(1);
    answers[0]?.('old');
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.('new');
    await vi.waitFor(() => expect(observer.getCurrentResult().data).toBe('new'));
    stop();
  });

  test('of a long list reads the first page alone', async () => {
    const queries = new QueryClient();
    const asked: string[] = [];
    const read = async (after: string) => {
      asked.push(after);
      const start = after === '' ? 0 : Number(after);
      return { items: [{ id: `${start}` }, { id: `${start + 1}` }], next: String(start + 2) };
    };
    const meta = { pick: (({ items }: { items: unknown[] }) => items) as unknown as Pick, readFirst: () => read('') };
    const observer = new InfiniteQueryObserver(queries, {
      queryKey: api('listActivities'),
      initialPageParam: '',
      queryFn: ({ pageParam }) => read(pageParam as string),
      getNextPageParam: ({ next }) => next,
      meta,
    });
    const stop = observer.subscribe(() => undefined);
    await vi.waitFor(() => expect(observer.getCurrentResult().isSuccess).toBe(true));
    await observer.fetchNextPage();
    await observer.fetchNextPage();
    expect(asked).toEqual(['', '2', '4']);
    refresh(queries);
    await vi.waitFor(() => expect(asked).toEqual(['', '2', '4', '']));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toHaveLength(4);
    expect(observer.getCurrentResult().data?.pages).toHaveLength(3);
    stop();
  });
});
