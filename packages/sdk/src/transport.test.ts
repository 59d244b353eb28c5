import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toUtf8 } from './bytes.ts';
import { CustosError, NetworkError } from './errors.ts';
import type { ClientOptions } from './options.ts';
import { SessionStamper } from './session-stamper.ts';
import type { Stamper } from './stamper.ts';
import { createTransport } from './transport.ts';

const BODY = toUtf8('{"a":1}');
const busy = (retryAfter?: string): Response =>
  new Response('{"code":14,"message":"later","details":[],"errorCode":"UNAVAILABLE"}', {
    status: 503,
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
  });

beforeEach(() => {
  // Waits end at once: what they are is asserted on, not spent.
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'],
    shouldAdvanceTime: true,
    advanceTimeDelta: 20,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

async function call(options: ClientOptions, signal?: AbortSignal, path = '/x'): Promise<unknown> {
  const { stamp, send } = createTransport(options);
  return await send(await stamp(path, BODY, signal), signal);
}

function service(...answers: readonly (() => Response | Promise<Response>)[]) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    sent.push({ url: String(url), init: init as RequestInit });
    const answer = answers[Math.min(sent.length, answers.length) - 1] as () => Response;
    return await answer();
  };
  let stamps = 0;
  const stamper: Stamper = {
    stamp: async () => {
      stamps += 1;
      return await new SessionStamper('token').stamp();
    },
  };
  const options = {
    baseUrl: 'http://service.test/',
    organizationId: 'o',
    stamper,
    fetch: fetch as typeof globalThis.fetch,
  };
  return { sent, options, stamps: () => stamps };
}

test('sends exactly the bytes, with one stamp and no redirects', async () => {
  const { sent, options } = service(() => Response.json({ ok: true }));
  expect(await call(options, undefined, '/public/v1/query/whoami')).toEqual({ ok: true });
  expect(sent).toMatchObject([
    {
      url: 'http://service.test/public/v1/query/whoami',
      init: { method: 'POST', body: BODY, redirect: 'manual', headers: { 'X-Session': 'token' } },
    },
  ]);
});

test('a 503 is sent again as it was, stamped once', async () => {
  const { sent, options, stamps } = service(
    () => busy('0'),
    () => busy('0'),
    () => Response.json({ ok: true }),
  );
  expect(await call(options)).toEqual({ ok: true });
  expect(sent.map(({ init }) => init.body)).toEqual([BODY, BODY, BODY]);
  expect(new Set(sent.map(({ init }) => JSON.stringify(init.headers))).size).toBe(1);
  expect(stamps()).toBe(1);
});

test('patience ends', async () => {
  const { sent, options } = service(() => busy('0'));
  await expect(call({ ...options, retryAttempts: 2 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    grpcCode: 14,
    httpStatus: 503,
  });
  expect(sent).toHaveLength(3);
});

const refusal =
  (status: number, headers = {}) =>
  () =>
    new Response('{"code":10,"message":"m","details":[],"errorCode":"CONFLICT"}', { status, headers });

test.each([
  [503, undefined],
  [503, 'soon'],
  [429, undefined],
  [409, '0'],
  [400, '0'],
  [401, '0'],
  [500, '0'],
  [502, '0'],
  [504, '0'],
])('a %i with Retry-After %s is not sent again', async (status, retryAfter) => {
  const { sent, options } = service(refusal(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }));
  await expect(call(options)).rejects.toMatchObject({ code: 'CONFLICT', httpStatus: status });
  expect(sent).toHaveLength(1);
});

test.each([503, 429])('a %i is sent again after the time it names, and not before', async (status) => {
  const dateIn = (seconds: number) => () => new Date(Date.now() + seconds * 1000).toUTCString();
  for (const [named, isPatient] of [
    [() => '7', true],
    [dateIn(8), true],
    [() => '3600', false],
    [dateIn(3600), false],
  ] as const) {
    const retryAfter = named();
    const { sent, options } = service(refusal(status, { 'retry-after': retryAfter }), () => Response.json(1));
    const answer = call(options).catch((error: CustosError) => error.httpStatus);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([retryAfter, await answer, sent.length]).toEqual([retryAfter, isPatient ? 1 : status, isPatient ? 2 : 1]);
  }
});

const lost = (): Response => {
  throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });
};
/** The headers arrive, and the rest of the answer does not. */
const cut = (): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated')),
    }),
  );
/** As fetch behaves when nothing comes. */
const never = (): Promise<Response> => new Promise(() => {});

test.each([
  ['lost', lost],
  ['cut', cut],
])('an answer that is %s is asked for again with the same bytes and the same stamp', async (_, broken) => {
  const { sent, options, stamps } = service(broken, broken, () => Response.json({ ok: true }));
  const answer = call(options);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await answer).toEqual({ ok: true });
  expect(sent.map(({ init }) => [init.body, JSON.stringify(init.headers)])).toEqual(
    Array.from({ length: 3 }, () => [BODY, JSON.stringify(sent[0]?.init.headers)]),
  );
  expect(stamps()).toBe(1);
});

test('what is lost again and again is an error that carries the request, and shows it to no log', async () => {
  const { sent, options } = service(lost);
  const answer = call(options).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  const error = (await answer) as NetworkError;
  expect(error).toBeInstanceOf(NetworkError);
  expect(error.message).toBe('no answer from http://service.test: read ECONNRESET (asked 4 times)');
  expect(sent).toHaveLength(4);
  expect(error.request).toEqual({ path: '/x', body: '{"a":1}', headerName: 'X-Session', headerValue: 'token' });
  const printed = [String(error), inspect(error, { depth: 9 }), JSON.stringify(error), JSON.stringify({ ...error })];
  for (const text of printed) expect(text).not.toMatch(/token|"a"/);
});

test('errors that the service answers carry the request too', async () => {
  const { options } = service(refusal(400));
  const error = await call(options).catch((thrown: unknown) => thrown);
  expect((error as CustosError).request).toMatchObject({ body: '{"a":1}', headerValue: 'token' });
  expect(new CustosError('INVALID_KEY', 'of no request').request).toBeUndefined();
});

/** A fetch that answers nothing, and ends with its signal as all of them do. */
function silent(answers: readonly (() => Response | Promise<Response>)[] = [never]) {
  const made = service(...answers);
  const fetch = (url: unknown, init?: RequestInit): Promise<Response> =>
    Promise.race([
      made.options.fetch(url as string, init),
      new Promise<Response>((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
    ]);
  return { ...made, options: { ...made.options, fetch } };
}

test('an answer that takes too long counts as lost', async () => {
  const { sent, options } = silent([never, () => Response.json(1)]);
  const answer = call({ ...options, timeoutMs: 2_000 });
  await vi.advanceTimersByTimeAsync(1_900);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await answer).toBe(1);
  expect(sent).toHaveLength(2);
});

test('all attempts together end in time', async () => {
  const { sent, options } = silent();
  const answer = call({ ...options, timeoutMs: 4_000, totalTimeoutMs: 6_000, retryAttempts: 100 }).catch(
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(6_500);
  expect(await answer).toMatchObject({ code: 'NETWORK_ERROR', message: expect.stringContaining('(asked 2 times)') });
  expect(sent).toHaveLength(2);
});

test('a redirect is followed by nobody, and told once', async () => {
  const { sent, options } = service(() => new Response(null, { status: 307, headers: { location: 'http://b.test' } }));
  await expect(call(options)).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', httpStatus: 307 });
  expect(sent).toHaveLength(1);
});

test.each(['timeoutMs', 'totalTimeoutMs'] as const)('%s must be a time', (name) => {
  const { options } = service(() => Response.json(1));
  for (const value of [0, -1, Number.NaN, Infinity]) {
    expect(() => createTransport({ ...options, [name]: value })).toThrow(name);
  }
});

test('a body that is no text is refused before it is stamped', async () => {
  const { sent, options, stamps } = service(() => Response.json(1));
  const { stamp } = createTransport(options);
  await expect(stamp('/x', new Uint8Array([0x22, 0xff, 0x22]), undefined)).rejects.toThrow('UTF-8');
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, 0x31]);
  expect(toUtf8((await stamp('/x', marked, undefined)).body)).toEqual(marked);
  expect([sent.length, stamps()]).toEqual([0, 1]);
});

test('a service that is not there is a NetworkError that says why', async () => {
  const options = { baseUrl: 'http://127.0.0.1:9', organizationId: 'o', stamper: new SessionStamper('t') };
  await expect(call({ ...options, retryAttempts: 0 })).rejects.toMatchObject({
    name: 'NetworkError',
    code: 'NETWORK_ERROR',
    httpStatus: undefined,
    message: expect.stringMatching(/^no answer from http:\/\/127\.0\.0\.1:9: ./),
  });
});

test('an aborted signal ends the wait and is thrown as it is', async () => {
  const { sent, options } = service(() => busy('30'));
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  setTimeout(() => controller.abort(reason), 20);
  await expect(call(options, controller.signal)).rejects.toBe(reason);
  expect(sent).toHaveLength(1);
  await expect(call(options, controller.signal)).rejects.toBe(reason);
  expect(sent).toHaveLength(1);
});

test('answers that are not of the service', async () => {
  const page = service(() => new Response('<html>bad gateway</html>', { status: 502 }));
  await expect(call(page.options)).rejects.toMatchObject({
    code: 'UNEXPECTED_ANSWER',
    httpStatus: 502,
  });
  const broken = service(() => new Response('{'));
  await expect(call(broken.options)).rejects.toMatchObject({
    code: 'UNEXPECTED_ANSWER',
  });
});

test.each(['', 'localhost:8080', 'ftp://service.test', 'http://'])('%j is no address', (baseUrl) => {
  const options = { baseUrl, organizationId: 'o', stamper: new SessionStamper('t') };
  expect(() => createTransport(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
});
