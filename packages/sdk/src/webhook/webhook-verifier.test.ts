import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWebhookVerifier, type WebhookVerifierOptions } from './webhook-verifier.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = 1767225600000;
const BODY = '{"type":"balances:confirmed"}';

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: Record<string, unknown>;
}

function newKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' } };
}

const first = newKey('first');
const second = newKey('second');

let nowMs: number;
let requests: IncomingMessage[];
/** How the next questions are answered. */
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let jwksUrl: string;

beforeEach(async () => {
  nowMs = START_MS;
  requests = [];
  publish([first]);
  server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const documentOf = (keys: readonly SigningKey[]): string => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });

function publish(
  keys: readonly SigningKey[],
  headers: Record<string, string> = { 'Cache-Control': 'public, max-age=300' },
) {
  answerWith(200, documentOf(keys), headers);
}

function answerWith(status: number, body: string | Buffer, headers: Record<string, string> = {}) {
  answer = (_request, response) => response.writeHead(status, headers).end(body);
}

const verifier = (options: Partial<WebhookVerifierOptions> = {}) =>
  createWebhookVerifier({ jwksUrl, now: () => nowMs, ...options });

function delivery({ kid, privateKey }: SigningKey, named = kid) {
  const eventId = '00000000-0000-4000-8000-000000000005';
  const signature = sign(null, Buffer.from(`v1.ed25519.${kid}.${nowMs}.${eventId}.${BODY}`), privateKey);
  const headers = {
    'x-service-timestamp': String(nowMs),
    'x-service-event-id': eventId,
    'x-service-signature-key-id': named,
    'x-service-signature-algorithm': 'ed25519',
    'x-service-signature-version': 'v1',
    'x-service-signature': signature.toString('hex'),
  };
  return { headers, body: BODY };
}

const reasonOf = async (verifying: ReturnType<typeof verifier>, given: ReturnType<typeof delivery>) => {
  const result = await verifying.verify(given);
  return result.ok ? 'ok' : result.reason;
};

test('a delivery verifies with the published key, one that is changed does not', async () => {
  const { verify } = verifier();
  expect(await verify(delivery(first))).toEqual({
    ok: true,
    eventId: '00000000-0000-4000-8000-000000000005',
    keyId: 'first',
    timestampMs: START_MS,
  });
  expect(await verify({ ...delivery(first), body: `${BODY} ` })).toEqual({ ok: false, reason: 'invalid_signature' });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ method: 'GET', url: '/jwks' });
});

test('what needs no key asks for none', async () => {
  const verifying = verifier({ maxAgeMs: 1000 });
  const late = delivery(first);
  nowMs += 1001;
  expect(await reasonOf(verifying, late)).toBe('stale_timestamp');
  expect(await verifying.verify({ headers: {}, body: BODY })).toMatchObject({ reason: 'missing_header' });
  expect(await verifying.verify(undefined as never)).toMatchObject({ reason: 'invalid_headers' });
  expect(requests).toHaveLength(0);
  expect(await reasonOf(verifying, delivery(first))).toBe('ok');
});

describe('how long keys are kept', () => {
  test.each<[string, Record<string, string>, number]>([
    ['public, max-age=300', { 'Cache-Control': 'public, max-age=300' }, 300_000],
    ['among others, in capitals and quoted', { 'Cache-Control': 'Public,S-MaxAge=9, MAX-AGE="60" ,immutable' }, 60_000],
    ['less the time in caches before ours', { 'Cache-Control': 'max-age=300', Age: '100' }, 200_000],
    ['the shorter of two', { 'Cache-Control': 'max-age=300, max-age=60' }, 60_000],
    ['a day at most', { 'Cache-Control': 'max-age=31536000' }, 86_400_000],
    ['a number without end', { 'Cache-Control': `max-age=${'9'.repeat(400)}` }, 86_400_000],
    ['five seconds at least', { 'Cache-Control': 'max-age=0' }, 5000],
    ['no-store', { 'Cache-Control': 'no-store, max-age=300' }, 5000],
    ['no-cache', { 'Cache-Control': 'max-age=300, no-cache="set-cookie"' }, 5000],
    ['what cannot be read', { 'Cache-Control': 'max-age=soon' }, 5000],
    ['nothing said', {}, 300_000],
  ])('%s', async (_name, headers, lifetimeMs) => {
    publish([first], headers);
    const verifying = verifier();
    for (const [afterMs, asked] of [
      [0, 1],
      [lifetimeMs - 1, 1],
      [lifetimeMs, 2],
    ] as const) {
      nowMs = START_MS + afterMs;
      expect(await reasonOf(verifying, delivery(first))).toBe('ok');
      expect(requests).toHaveLength(asked);
    }
  });

  test('a key that is gone from the document is refused after the next fetch', async () => {
    publish([first, second]);
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    publish([second]);
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    nowMs += 300_000;
    expect(await reasonOf(verifying, delivery(first))).toBe('missing_key');
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    publish([]);
    nowMs += 300_000;
    expect(await reasonOf(verifying, delivery(second))).toBe('missing_key');
  });

  test('a clock that is put back makes nothing last longer', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    publish([second]);
    nowMs -= HOUR_MS;
    expect(await reasonOf(verifying, delivery(first))).toBe('missing_key');
    expect(requests).toHaveLength(2);
  });

  test('an unchanged document is not sent again', async () => {
    const etags: (string | undefined)[] = [];
    let cacheControl: string | undefined = 'max-age=300';
    answer = (request, response) => {
      etags.push(request.headers['if-none-match']);
      if (cacheControl !== undefined) response.setHeader('Cache-Control', cacheControl);
      if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end();
      else response.writeHead(200, { ETag: '"one"' }).end(documentOf([first]));
    };
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    // The answer without a document says anew how long; if it does not, as long as before.
    for (const [stated, waitMs, asked] of [
      ['max-age=60', 300_000, 2],
      [undefined, 60_000, 3],
      [undefined, 59_999, 3],
      [undefined, 1, 4],
    ] as const) {
      cacheControl = stated;
      nowMs += waitMs;
      expect(await reasonOf(verifying, delivery(first))).toBe('ok');
      expect(requests).toHaveLength(asked);
    }
    expect(etags).toEqual([undefined, '"one"', '"one"', '"one"']);
    // A document without a tag ends it.
    publish([second]);
    nowMs += 60_000;
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    nowMs += 300_000;
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    expect(requests.at(-1)!.headers['if-none-match']).toBeUndefined();
  });
});

describe('keys that are not known', () => {
  test('are asked for once before they are refused', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    publish([first, second]);
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    expect(requests).toHaveLength(2);
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    expect(requests).toHaveLength(2);
  });

  test('are not asked for again by the one that asked first of all', async () => {
    expect(await reasonOf(verifier(), delivery(second))).toBe('missing_key');
    expect(requests).toHaveLength(1);
  });

  test('are asked for once in ten seconds, however many', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    const flood = Array.from({ length: 1000 }, (_, index) => delivery(first, `unknown-${index}`));
    const [asked, ...others] = await Promise.all(flood.map((one) => reasonOf(verifying, one)));
    // The others came when the question was on its way: their keys may be newer than the answer.
    expect([asked, new Set(others)]).toEqual(['missing_key', new Set(['key_set_unavailable'])]);
    expect(requests).toHaveLength(2);
    for (const one of flood.slice(0, 100)) expect(await reasonOf(verifying, one)).toBe('key_set_unavailable');
    expect(requests).toHaveLength(2);
    // Those whose keys are known do not suffer.
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');

    nowMs += 9_999;
    expect(await reasonOf(verifying, delivery(second))).toBe('key_set_unavailable');
    expect(requests).toHaveLength(2);
    nowMs += 1;
    publish([first, second]);
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    expect(requests).toHaveLength(3);
  });

  test('are not refused for an answer that is older than they', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    // Asked before the new key was published, and answered after it has signed.
    const held: ServerResponse[] = [];
    answer = (_request, response) => held.push(response);
    const asked = once(server, 'request');
    const stranger = reasonOf(verifying, delivery(first, 'unknown'));
    await asked;
    const early = reasonOf(verifying, delivery(second));
    held[0]!.end(documentOf([first]));
    expect([await stranger, await early]).toEqual(['missing_key', 'key_set_unavailable']);

    publish([first, second]);
    expect(await reasonOf(verifying, delivery(second))).toBe('key_set_unavailable');
    nowMs += 10_000;
    // As the service repeats it.
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    expect(requests).toHaveLength(3);
    // One that is nowhere is refused in the end.
    nowMs += 10_000;
    expect(await reasonOf(verifying, delivery(first, 'unknown'))).toBe('missing_key');
  });

  test('nor for an unchanged one', async () => {
    answer = (request, response) => {
      if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end();
      else response.writeHead(200, { ETag: '"one"' }).end(documentOf([first]));
    };
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    expect(await reasonOf(verifying, delivery(second))).toBe('missing_key');
    expect(await reasonOf(verifying, delivery(second))).toBe('key_set_unavailable');
    nowMs += 10_000;
    expect(await reasonOf(verifying, delivery(second))).toBe('missing_key');
    expect(requests).toHaveLength(3);
  });

  test('make two questions at most when they come first', async () => {
    const verifying = verifier();
    const flood = Array.from({ length: 1000 }, (_, index) => reasonOf(verifying, delivery(first, `unknown-${index}`)));
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['missing_key']));
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  test('one fetch at a time serves all that wait', async () => {
    const held: ServerResponse[] = [];
    answer = (_request, response) => held.push(response);
    const asked = once(server, 'request');
    const verifying = verifier();
    const results = Array.from({ length: 50 }, (_, index) => reasonOf(verifying, delivery(index % 2 ? first : second)));
    await asked;
    results.push(reasonOf(verifying, delivery(first)));
    for (const response of held) response.end(documentOf([first, second]));
    expect(new Set(await Promise.all(results))).toEqual(new Set(['ok']));
    expect(requests).toHaveLength(1);
  });
});

describe('rotation', () => {
  test('rejects no delivery when keys are published ahead and retired late', async () => {
    const rotatedAtMs = START_MS + 20 * MINUTE_MS;
    const signsFromMs = rotatedAtMs + 15 * MINUTE_MS;
    answer = (_request, response) => {
      const published = [
        ...(nowMs < signsFromMs + 24 * HOUR_MS ? [first] : []),
        ...(nowMs >= rotatedAtMs ? [second] : []),
      ];
      response.setHeader('Cache-Control', 'public, max-age=300');
      response.end(documentOf(published));
    };
    const verifying = verifier();
    const seen = new Set<string>();
    for (; nowMs < signsFromMs + 25 * HOUR_MS; nowMs += 211_000) {
      const key = nowMs < signsFromMs ? first : second;
      seen.add(key.kid);
      expect(await reasonOf(verifying, delivery(key))).toBe('ok');
    }
    expect([...seen]).toEqual(['first', 'second']);
    expect(await reasonOf(verifying, delivery(first))).toBe('missing_key');
  });

  test('nor when a key signs as soon as it is published', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => newKey(`key-${index}`));
    const verifying = verifier();
    for (const key of keys) {
      publish([key]);
      expect(await reasonOf(verifying, delivery(key))).toBe('ok');
      nowMs += 10_000;
    }
    expect(requests).toHaveLength(keys.length);
  });
});

describe('when the service cannot be asked', () => {
  test('known keys serve for another day', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    answerWith(500, 'out of order');
    nowMs = START_MS + 300_000;
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    nowMs = START_MS + 300_000 + 24 * HOUR_MS - 1;
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    nowMs += 1;
    expect(await reasonOf(verifying, delivery(first))).toBe('key_set_unavailable');
    publish([first]);
    nowMs += 5_000;
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
  });

  test('it is asked every five seconds', async () => {
    answer = (request) => request.socket.destroy();
    const verifying = verifier();
    for (const [afterMs, asked] of [
      [0, 1],
      [1, 1],
      [4_999, 1],
      [5_000, 2],
      [9_999, 2],
      [10_000, 3],
    ] as const) {
      nowMs = START_MS + afterMs;
      expect(await reasonOf(verifying, delivery(first))).toBe('key_set_unavailable');
      expect(requests).toHaveLength(asked);
    }
    publish([first]);
    nowMs += 5_000;
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
  });

  test('an unknown key is not called missing, and is asked for as soon as that works', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    answerWith(503, '');
    expect(await reasonOf(verifying, delivery(second))).toBe('key_set_unavailable');
    expect(await reasonOf(verifying, delivery(second))).toBe('key_set_unavailable');
    expect(requests).toHaveLength(2);
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    publish([first, second]);
    nowMs += 5_000;
    expect(await reasonOf(verifying, delivery(second))).toBe('ok');
    // What is answered from now on is the last word again.
    nowMs += 10_000;
    expect(await reasonOf(verifying, delivery(first, 'third'))).toBe('missing_key');
    expect(requests).toHaveLength(4);
  });

  test('a server that is gone', async () => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    nowMs += 300_000;
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    expect(await reasonOf(verifier(), delivery(first))).toBe('key_set_unavailable');
  });

  const key = { kid: 'first', ...first.jwk };
  test.each<[string, number, string | Buffer, Record<string, string>?]>([
    ['a page', 200, '<html>'],
    ['nothing', 200, ''],
    [
      'no UTF-8',
      200,
      Buffer.concat([Buffer.from(`{"a":"`), Buffer.of(255), Buffer.from(`","keys":[${JSON.stringify(key)}]}`)]),
    ],
    ['null', 200, 'null'],
    ['a list', 200, JSON.stringify([key])],
    ['keys that are no list', 200, JSON.stringify({ keys: { first: key } })],
    ['a document that is too long', 200, `${documentOf([second])}${' '.repeat(256 * 1024)}`],
    ['another status', 404, documentOf([second])],
    ['a redirect', 302, documentOf([second]), { Location: '/elsewhere' }],
    ['an unchanged document that nobody has', 304, ''],
  ])('%s is no key set', async (_name, status, body, headers) => {
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    answerWith(status, body, headers);
    nowMs += 300_000;
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    expect(await reasonOf(verifying, delivery(second))).toBe('key_set_unavailable');
    expect(await reasonOf(verifier(), delivery(second))).toBe('key_set_unavailable');
    expect(requests.map(({ url }) => url)).toEqual(['/jwks', '/jwks', '/jwks']);
  });

  test('what takes too long is given up, also by a fetch that does not heed it', async () => {
    answer = () => {};
    const signals: AbortSignal[] = [];
    const watching: typeof fetch = (url, init) => {
      signals.push(init!.signal!);
      return fetch(url, init);
    };
    expect(await reasonOf(verifier({ fetch: watching, timeoutMs: 20 }), delivery(first))).toBe('key_set_unavailable');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    const deaf = () => new Promise<never>(() => {});
    expect(await reasonOf(verifier({ fetch: deaf, timeoutMs: 20 }), delivery(first))).toBe('key_set_unavailable');
    answer = (_request, response) => void response.writeHead(200).write('{"keys":[');
    expect(await reasonOf(verifier({ timeoutMs: 200 }), delivery(first))).toBe('key_set_unavailable');
  });

  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('no network');
      },
    ],
    ['answers nothing', () => undefined],
    ['answers something else', async () => ({ status: 200 })],
    ['is no function', {}],
  ])('a fetch that %s', async (_name, fetch) => {
    expect(await reasonOf(verifier({ fetch: fetch as typeof globalThis.fetch }), delivery(first))).toBe(
      'key_set_unavailable',
    );
  });
});

test('entries that are no keys for us are passed over', async () => {
  const others = [
    null,
    7,
    { ...second.jwk, x: 'AA' },
    { ...second.jwk, use: 'enc' },
    { ...second.jwk, kty: 'EC' },
    { ...second.jwk, crv: 'Ed448' },
    { ...second.jwk, alg: 'ES256' },
    { ...second.jwk, kid: 7 },
  ];
  for (const other of others) {
    answerWith(200, JSON.stringify({ keys: [other, first.jwk], more: true }));
    const verifying = verifier();
    expect(await reasonOf(verifying, delivery(first))).toBe('ok');
    expect(await reasonOf(verifying, delivery(second))).toBe('missing_key');
  }
  answerWith(200, JSON.stringify({ keys: [...others, second.jwk] }));
  expect(await reasonOf(verifier(), delivery(second))).toBe('ok');
  // Of two keys of one name the first counts.
  answerWith(200, JSON.stringify({ keys: [first.jwk, { ...second.jwk, kid: 'first' }] }));
  expect(await reasonOf(verifier(), delivery(first))).toBe('ok');
});

test('keys are asked of the named address, with nothing else', async () => {
  const fetch = vi.fn(globalThis.fetch);
  expect(await reasonOf(verifier({ fetch }), delivery(first))).toBe('ok');
  expect(fetch.mock.calls).toEqual([
    [jwksUrl, { headers: { Accept: 'application/json' }, redirect: 'manual', signal: expect.any(AbortSignal) }],
  ]);
});

test.each<[string, unknown]>([
  ['no address', { jwksUrl: 'service.test/jwks' }],
  ['a file', { jwksUrl: 'file:///etc/keys.json' }],
  ['data', { jwksUrl: 'data:application/json,{}' }],
  ['a user in the address', { jwksUrl: 'https://user:secret@service.test/jwks' }],
  ['an object', { jwksUrl: new URL('https://service.test/jwks') }],
  ['nothing', { jwksUrl: undefined }],
  ['a negative age', { maxAgeMs: -1 }],
  ['an age without end', { maxAgeMs: Number.POSITIVE_INFINITY }],
  ['no time at all', { timeoutMs: 0 }],
  ['too much time', { timeoutMs: Number.NaN }],
])('%s is refused when it is made', (_name, options) => {
  expect(() => verifier(options as object)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
});

test('a clock that says nothing is no reason to throw', async () => {
  expect(await reasonOf(verifier({ now: () => Number.NaN }), delivery(first))).toBe('invalid_now');
  const now = () => {
    throw new Error('no clock');
  };
  expect(await reasonOf(verifier({ now }), delivery(first))).toBe('verification_unavailable');
});
