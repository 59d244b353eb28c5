import { CustosError, NetworkError } from '@custos/sdk';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connection, noteLoss, tryNow, watchedFetch } from '../api/connection.ts';
import { paced, probeUntilBack, RETRY_MS } from './probe.ts';

const real = globalThis.fetch;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-17T10:00:00Z') });
  globalThis.fetch = (async () => new Response('{}', { status: 200 })) as typeof fetch;
});
afterEach(() => {
  globalThis.fetch = real;
  vi.useRealTimers();
  connection.set({ lostSinceMs: undefined, nextTryMs: undefined, clockOffsetMs: 0 });
});

describe('a service that was lost', () => {
  test('is back when it answers the one question, and not by other answers', async () => {
    noteLoss();
    const ask = vi.fn(async () => undefined);
    const onBack = vi.fn();
    const stop = probeUntilBack(ask, onBack);
    await watchedFetch('http://service.test');
    expect(connection.get().lostSinceMs).toBe(Date.now());
    expect(connection.get().nextTryMs).toBe(Date.now() + RETRY_MS);
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    expect(ask).toHaveBeenCalledOnce();
    expect(onBack).toHaveBeenCalledOnce();
    expect(connection.get()).toMatchObject({ lostSinceMs: undefined, nextTryMs: undefined });
    stop();
  });

  test('is asked again while nothing helpful comes; a refusal is an answer', async () => {
    noteLoss();
    const failures = [
      new NetworkError('no answer', undefined),
      new CustosError('UNAVAILABLE', 'not now', { httpStatus: 503 }),
      new CustosError('REQUEST_NOT_AUTHORIZED', 'no', { httpStatus: 403 }),
    ];
    const onBack = vi.fn();
    const stop = probeUntilBack(async () => {
      throw failures.shift();
    }, onBack);
    await vi.advanceTimersByTimeAsync(2 * RETRY_MS);
    expect(failures).toHaveLength(1);
    expect(onBack).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    expect(onBack).toHaveBeenCalledOnce();
    stop();
  });

  test('is asked at once where somebody wants it, and by nobody afterwards', async () => {
    noteLoss();
    const ask = vi.fn(async () => undefined);
    const stop = probeUntilBack(ask, () => undefined);
    expect([tryNow(), tryNow()]).toEqual([true, true]);
    await vi.advanceTimersByTimeAsync(0);
    expect(ask).toHaveBeenCalledOnce();
    stop();
    expect(tryNow()).toBe(false);
    noteLoss();
    await watchedFetch('http://service.test');
    expect(connection.get().lostSinceMs).toBeUndefined();
  });
});

test('what is paced happens at once, then once in a while', () => {
  const act = vi.fn();
  const pace = paced(act, 1000);
  pace.act();
  pace.act();
  pace.act();
  expect(act).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(2);
  pace.act();
  pace.stop();
  vi.advanceTimersByTime(5000);
  expect(act).toHaveBeenCalledTimes(2);
});
