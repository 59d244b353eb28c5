import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createClient } from './client.ts';
import type { FeedEvent, FeedOptions } from './feed.ts';
import { SessionStamper } from './session-stamper.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], shouldAdvanceTime: true, advanceTimeDelta: 20 });
});
afterEach(() => {
  vi.useRealTimers();
});

const event = (id: string) => ({ cursor: `after ${id}`, event: { kind: 'ACTIVITY', activityId: id } });
const HEARTBEAT = { cursor: 'idle', now: '2026-01-01T00:00:00.000Z' };

/** An answer of these pieces, which then ends, or stays open. */
function stream(pieces: readonly string[], isOpen = false): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      if (!isOpen) controller.close();
    },
  });
  return new Response(body, { status: 200 });
}

const lines = (...said: object[]): string => said.map((line) => `${JSON.stringify(line)}\n`).join('');
const end = (code: string) => ({ end: { code, message: `ended: ${code}` } });

async function follow(answers: readonly (() => Response)[], options: FeedOptions = {}) {
  const asked: { cursor?: string; organizationId: string }[] = [];
  const askedAtMs: number[] = [];
  const client = createClient({
    baseUrl: 'http://service.test',
    organizationId: 'own',
    stamper: new SessionStamper('token'),
    fetch: (async (_url: unknown, init: RequestInit) => {
      asked.push(JSON.parse(new TextDecoder().decode(init.body as Uint8Array)));
      askedAtMs.push(Date.now());
      const answer = answers[asked.length - 1];
      if (answer === undefined) throw new Error('asked too often');
      return answer();
    }) as typeof globalThis.fetch,
  });
  const events: FeedEvent[] = [];
  let error: unknown;
  try {
    for await (const told of client.feed(options)) events.push(told);
  } catch (thrown) {
    error = thrown;
  }
  return { asked, askedAtMs, events, error };
}

test('goes on behind the last event over lost connections, and ends for good with what the service says', async () => {
  const interruptions: string[] = [];
  const { asked, events, error } = await follow(
    [
      () => stream([lines(HEARTBEAT, event('a')), lines(event('b'))]),
      () => stream([lines(end('UNAVAILABLE'))]),
      () => stream([lines(HEARTBEAT, event('c'), end('UNAUTHENTICATED'), event('never'))]),
    ],
    { onInterrupted: ({ code }) => interruptions.push(code) },
  );
  expect(events.map((told) => 'activityId' in told && [told.activityId, told.cursor])).toEqual([
    ['a', 'after a'],
    ['b', 'after b'],
    ['c', 'after c'],
  ]);
  expect(asked).toEqual([
    { organizationId: 'own' },
    { organizationId: 'own', cursor: 'after b' },
    { organizationId: 'own', cursor: 'after b' },
  ]);
  expect(interruptions).toEqual(['NETWORK_ERROR', 'UNAVAILABLE']);
  expect(error).toMatchObject({ code: 'UNAUTHENTICATED', message: 'ended: UNAUTHENTICATED' });
});

test('takes lines in whatever pieces they come, and passes over what it does not know', async () => {
  const text = lines({ ...event('ünï'), more: 1 }, { cursor: 'x', news: true }, event('b'), end('IP_NOT_ALLOWED'));
  const bytes = [...new TextEncoder().encode(text)];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const { events, error } = await follow([() => new Response(body)]);
  expect(events.map((told) => 'activityId' in told && told.activityId)).toEqual(['ünï', 'b']);
  expect(error).toMatchObject({ code: 'IP_NOT_ALLOWED' });
});

test('comes back when the service says, and not at all where it refuses', async () => {
  const busy = () =>
    new Response('{"code":8,"message":"later","details":[],"errorCode":"RATE_LIMIT_EXCEEDED"}', {
      status: 429,
      headers: { 'retry-after': '5' },
    });
  const refused = () =>
    new Response('{"code":3,"message":"cursor: no","details":[],"errorCode":"REQUEST_INVALID"}', { status: 400 });
  const following = follow([busy, refused], { cursor: 'mine', organizationId: 'other' });
  await vi.advanceTimersByTimeAsync(7000);
  const { asked, askedAtMs, error } = await following;
  expect(asked[0]).toEqual({ organizationId: 'other', cursor: 'mine' });
  expect((askedAtMs[1] ?? 0) - (askedAtMs[0] ?? 0)).toBeGreaterThanOrEqual(5000);
  expect(error).toMatchObject({ code: 'REQUEST_INVALID', httpStatus: 400 });
});

test('is interrupted by a silence longer than the service keeps', async () => {
  const following = follow([
    () => stream([lines(HEARTBEAT)], true),
    () => stream([lines(end('ORGANIZATION_NOT_FOUND'))]),
  ]);
  await vi.advanceTimersByTimeAsync(30_000);
  const { asked, error } = await following;
  expect(asked).toHaveLength(2);
  expect(error).toMatchObject({ code: 'ORGANIZATION_NOT_FOUND' });
});

test('ends with its signal, while it reads and while it waits', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => controller.abort(reason), 200);
  expect((await follow([() => stream([lines(HEARTBEAT)], true)], { signal: controller.signal })).error).toBe(reason);
  const { error, asked } = await follow([], { signal: controller.signal });
  expect([error, asked]).toEqual([reason, []]);
});

test('what is not a line of the feed is an error', async () => {
  expect((await follow([() => stream(['<html>\n'])])).error).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
});
