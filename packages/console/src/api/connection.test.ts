import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { askedToWaitUntilMs, connection, noteNextTry, watchedFetch } from './connection.ts';

const real = globalThis.fetch;
const answer = (status: number, headers: Record<string, string> = {}) => {
  globalThis.fetch = (async () => new Response('{}', { status, headers })) as typeof fetch;
};

describe('the way to the service', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.parse('2026-11-17T10:00:00Z') });
  });
  afterEach(async () => {
    answer(200);
    await watchedFetch('http://service.test');
    globalThis.fetch = real;
    vi.useRealTimers();
  });

  test('is lost while the service says that it cannot, since the first time it said so', async () => {
    answer(503, { 'content-type': 'application/json', 'retry-after': '1' });
    await watchedFetch('http://service.test');
    const since = Date.now();
    vi.advanceTimersByTime(9000);
    await watchedFetch('http://service.test');
    expect(connection.get().lostSinceMs).toBe(since);
    noteNextTry(since + 20_000);
    expect(connection.get().nextTryMs).toBe(since + 20_000);
    answer(403);
    await watchedFetch('http://service.test');
    expect(connection.get()).toMatchObject({ lostSinceMs: undefined, nextTryMs: undefined });
  });

  test('is lost without an answer, but not by leaving a page', async () => {
    globalThis.fetch = (async () => {
      throw new DOMException('left', 'AbortError');
    }) as typeof fetch;
    const left = AbortSignal.abort();
    await expect(watchedFetch('http://service.test', { signal: left })).rejects.toThrow('left');
    expect(connection.get().lostSinceMs).toBeUndefined();
    globalThis.fetch = (async () => {
      throw new TypeError('Failed to fetch');
    }) as typeof fetch;
    await expect(watchedFetch('http://service.test')).rejects.toThrow('Failed to fetch');
    expect(connection.get().lostSinceMs).toBe(Date.now());
  });

  test('is there while the service refuses for a setting that is missing', async () => {
    answer(503, { 'content-type': 'application/json; charset=utf-8' });
    await watchedFetch('http://service.test');
    expect(connection.get().lostSinceMs).toBeUndefined();
    answer(502);
    await watchedFetch('http://service.test');
    expect(connection.get().lostSinceMs).toBe(Date.now());
  });

  test('knows when the service wants to be asked again', async () => {
    answer(429, { 'retry-after': '30' });
    await watchedFetch('http://service.test');
    expect(askedToWaitUntilMs(429)).toBe(Date.now() + 30_000);
    expect(askedToWaitUntilMs(408)).toBeUndefined();
    vi.advanceTimersByTime(30_000);
    expect(askedToWaitUntilMs(429)).toBeUndefined();
  });

  test('knows the time of the service', async () => {
    answer(200, { date: 'Tue, 17 Nov 2026 10:07:12 GMT' });
    await watchedFetch('http://service.test');
    expect(connection.get().clockOffsetMs).toBe((7 * 60 + 12) * 1000);
    answer(200, { date: 'Tue, 17 Nov 2026 10:00:01 GMT' });
    await watchedFetch('http://service.test');
    expect(connection.get().clockOffsetMs).toBe(0);
  });
});
