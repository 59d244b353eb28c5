import { CustosError, NetworkError } from '@custos/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { connection, watchedFetch } from './connection.ts';
import { problemOf } from './problem.ts';

const NOW = Date.UTC(2026, 10, 16, 10, 4, 3);
const answer = (httpStatus: number, code = 'ANY', details: readonly unknown[] = []) =>
  new CustosError(code, 'the wallet has no such account', { httpStatus, details });

describe('problems', () => {
  afterEach(() => connection.set({ lostSinceMs: undefined, nextTryMs: undefined, clockOffsetMs: 0 }));

  test.each([
    [401, 'session'],
    [403, 'denied'],
    [404, 'gone'],
    [409, 'conflict'],
    [429, 'too-often'],
    [503, 'unavailable'],
    [400, 'invalid'],
    [500, 'bug'],
  ] as const)('an answer with %s is %s', (status, kind) => {
    expect(problemOf(answer(status), NOW)).toMatchObject({ kind, code: 'ANY' });
  });

  test('a message of the service becomes a sentence', () => {
    expect(problemOf(answer(404)).text).toBe('The wallet has no such account.');
  });

  test('no answer says that sending again is harmless', () => {
    const { kind, text } = problemOf(new NetworkError('no answer', undefined));
    expect(kind).toBe('offline');
    expect(text).toContain('counts once');
  });

  test('a limit says when to come back', async () => {
    const real = globalThis.fetch;
    globalThis.fetch = (async () => new Response('', { status: 429, headers: { 'retry-after': '8' } })) as typeof fetch;
    const before = Date.now();
    await watchedFetch('http://service.test');
    globalThis.fetch = real;
    const { retryAtMs = 0 } = problemOf(answer(429, 'RATE_LIMIT_EXCEEDED'));
    expect(retryAtMs - before).toBeGreaterThanOrEqual(8000);
    expect(retryAtMs - before).toBeLessThan(9000);
    expect(problemOf(answer(429), before + 20_000).retryAtMs).toBeUndefined();
  });

  test('a refused time is about the clock only where the clocks differ', () => {
    const refused = new CustosError('REQUEST_INVALID', 'too old', {
      httpStatus: 400,
      violations: [{ field: 'timestampMs', description: 'is too old' }],
    });
    expect(problemOf(refused, NOW).kind).toBe('invalid');
    connection.set({ lostSinceMs: undefined, nextTryMs: undefined, clockOffsetMs: 432_000 });
    const { kind, text } = problemOf(refused, NOW);
    expect(kind).toBe('clock');
    expect(text).toContain('7 min 12 s behind the service');
  });

  test('a denied activity can be looked up', () => {
    expect(problemOf(answer(403, 'REQUEST_NOT_AUTHORIZED', [{ activityId: 'a1' }])).activityId).toBe('a1');
  });

  test('anything else is our own fault, in its own words', () => {
    expect(problemOf(new TypeError('x is undefined'))).toMatchObject({ kind: 'bug', text: 'X is undefined.' });
    expect(problemOf('gone')).toMatchObject({ kind: 'bug' });
  });
});
