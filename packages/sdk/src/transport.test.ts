import { expect, test } from 'vitest';
import { toUtf8 } from './bytes.ts';
import { SessionStamper } from './session-stamper.ts';
import type { Stamper } from './stamper.ts';
import { createTransport } from './transport.ts';

const BODY = toUtf8('{"a":1}');
const busy = (retryAfter?: string): Response =>
  new Response('{"code":14,"message":"later","details":[],"errorCode":"UNAVAILABLE"}', {
    status: 503,
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
  });

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
  expect(await createTransport(options)('/public/v1/query/whoami', BODY, undefined)).toEqual({ ok: true });
  expect(sent).toMatchObject([
    {
      url: 'http://service.test/public/v1/query/whoami',
      init: { method: 'POST', body: BODY, redirect: 'error', headers: { 'X-Session': 'token' } },
    },
  ]);
});

test('a 503 is sent again as it was, stamped once', async () => {
  const { sent, options, stamps } = service(
    () => busy('0'),
    () => busy('0'),
    () => Response.json({ ok: true }),
  );
  expect(await createTransport(options)('/x', BODY, undefined)).toEqual({ ok: true });
  expect(sent.map(({ init }) => init.body)).toEqual([BODY, BODY, BODY]);
  expect(new Set(sent.map(({ init }) => init.headers)).size).toBe(1);
  expect(stamps()).toBe(1);
});

test('patience ends', async () => {
  const { sent, options } = service(() => busy('0'));
  await expect(createTransport({ ...options, retryAttempts: 2 })('/x', BODY, undefined)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    grpcCode: 14,
    httpStatus: 503,
  });
  expect(sent).toHaveLength(3);
});

test('other refusals are not repeated, unless a conflict asks for it', async () => {
  const refusal = (headers = {}) =>
    new Response('{"code":10,"message":"m","details":[],"errorCode":"CONFLICT"}', { status: 409, headers });
  const once = service(() => refusal());
  await expect(createTransport(once.options)('/x', BODY, undefined)).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(once.sent).toHaveLength(1);
  const again = service(
    () => refusal({ 'retry-after': '0' }),
    () => Response.json(1),
  );
  expect(await createTransport(again.options)('/x', BODY, undefined)).toBe(1);
});

test('a service that is not there is a NetworkError that says why', async () => {
  const options = { baseUrl: 'http://127.0.0.1:9', organizationId: 'o', stamper: new SessionStamper('t') };
  await expect(createTransport(options)('/x', BODY, undefined)).rejects.toMatchObject({
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
  await expect(createTransport(options)('/x', BODY, controller.signal)).rejects.toBe(reason);
  expect(sent).toHaveLength(1);
  await expect(createTransport(options)('/x', BODY, controller.signal)).rejects.toBe(reason);
  expect(sent).toHaveLength(1);
});

test('answers that are not of the service', async () => {
  const page = service(() => new Response('<html>bad gateway</html>', { status: 502 }));
  await expect(createTransport(page.options)('/x', BODY, undefined)).rejects.toMatchObject({
    code: 'UNEXPECTED_ANSWER',
    httpStatus: 502,
  });
  const broken = service(() => new Response('{'));
  await expect(createTransport(broken.options)('/x', BODY, undefined)).rejects.toMatchObject({
    code: 'UNEXPECTED_ANSWER',
  });
});

test.each(['', 'localhost:8080', 'ftp://service.test', 'http://'])('%j is no address', (baseUrl) => {
  const options = { baseUrl, organizationId: 'o', stamper: new SessionStamper('t') };
  expect(() => createTransport(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
});
