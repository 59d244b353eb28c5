import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen, serve, serveBytes } from '../../../test/harness/loopback.ts';
import { selfSigned } from '../../../test/harness/self-signed.ts';
import { createHostCache } from '../../outbound/host-cache.ts';
import { type Courier, type LocalCourierParts, localCourier, type Parcel, type Receipt } from './courier.ts';
import { createRoutes } from './routes.ts';
import { webhookGuard } from './rules.ts';
import { createSlots } from './slots.ts';
import { startTrip } from './trip.ts';

const HEADERS = { 'Content-Type': 'application/json', 'X-Service-Event-Id': 'event-1' };

function courier(parts: Partial<LocalCourierParts> = {}): Courier {
  const made = localCourier({ allow: ['127.0.0.1/32'], ...parts });
  onTestFinished(() => made.close());
  return made;
}

const hasty = (): Courier => courier({ timeoutMs: 100 });

const at = (port: number, path = '/hook'): Parcel => ({
  url: `http://127.0.0.1:${port}${path}`,
  headers: HEADERS,
  body: '{"name":"Zoë"}',
});

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Answers 200 to the path /well, and otherwise behaves as it is told. */
const wellOr =
  (otherwise: RequestListener): RequestListener =>
  (request, response) => {
    request.resume();
    if (request.url === '/well') response.end('well');
    else otherwise(request, response);
  };

describe('what is sent', () => {
  test('one POST with the headers and the bytes of the parcel', async () => {
    const seen: unknown[] = [];
    const port = await serve(async (request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: await read(request) });
      response.writeHead(201).end();
    });

    const receipt = await courier().deliver(at(port, '/hook?a=b'));

    expect(receipt).toEqual({ latencyMs: expect.any(Number), status: 201 });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/hook?a=b',
        body: '{"name":"Zoë"}',
        headers: {
          host: `127.0.0.1:${port}`,
          connection: 'keep-alive',
          'content-length': '15',
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          'x-service-event-id': 'event-1',
        },
      },
    ]);
  });

  test('a header that would be two is not sent', async () => {
    const port = await serve(wellOr((_request, response) => response.end()));
    const parcel = at(port);
    expect(await courier().deliver(parcel)).toMatchObject({ status: 200 });
    const split = { ...parcel, headers: { ...HEADERS, 'X-Service-Event-Type': 'A\r\nX-Other: B' } };
    expect(await courier().deliver(split)).toMatchObject({ error: 'network' });
  });
});

describe('what comes back', () => {
  test.each([200, 204, 299, 302, 304, 400, 408, 410, 429, 500, 503, 599])('%i is an answer', async (status) => {
    const port = await serve(wellOr((_request, response) => response.writeHead(status).end()));
    expect(await courier().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), status });
  });

  test('a redirect is not followed', async () => {
    let visits = 0;
    const port = await serve((request, response) => {
      request.resume();
      if (request.url === '/elsewhere') visits += 1;
      response.writeHead(request.url === '/hook' ? 307 : 200, { location: '/elsewhere' }).end();
    });
    const sender = courier();
    expect(await sender.deliver(at(port, '/elsewhere'))).toMatchObject({ status: 200 });
    expect(visits).toBe(1);
    expect(await sender.deliver(at(port))).toMatchObject({ status: 307 });
    expect(visits).toBe(1);
  });

  test('Retry-After comes as it is, but not without end', async () => {
    const port = await serve(
      wellOr((request, response) => {
        const value = request.url === '/long' ? '9'.repeat(100) : 'Wed, 21 Oct 2026 07:28:00 GMT';
        response.writeHead(503, { 'retry-after': value }).end();
      }),
    );
    const sender = courier();
    expect(await sender.deliver(at(port))).toMatchObject({ retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    expect(await sender.deliver(at(port, '/long'))).toMatchObject({ retryAfter: '9'.repeat(64) });
    expect(await sender.deliver(at(port, '/well'))).not.toHaveProperty('retryAfter');
  });

  test('the answer is shown for public targets, and never for those of the list', async () => {
    const port = await serve(wellOr((_request, response) => response.end('\u001bWrong')));
    expect(await courier().deliver(at(port))).not.toHaveProperty('answer');

    const routes = createRoutes(
      webhookGuard(['127.0.0.1/32']),
      createHostCache(async () => [], Date.now),
    );
    onTestFinished(() => routes.close());
    const asIfPublic = {
      close: () => {},
      find: (url: string) => Object.assign(routes.find(url), { checkPeer: () => 'public' as const }),
    };
    const parts = {
      routes: asIfPublic,
      underWay: createSlots<() => void>(),
      patience: { connectMs: 5e3, totalMs: 1e4 },
    };
    const receipt = await new Promise<Receipt>((resolve) => startTrip(parts, at(port), resolve));
    expect(receipt).toMatchObject({ status: 200, answer: '\ufffdWrong' });
  });
});

describe('receivers that misbehave', () => {
  const CRLF = '\r\n';
  const HEAD = `HTTP/1.1 200 OK${CRLF}`;

  /** Says one piece after the other, for ever with the last one. */
  const drip =
    (...pieces: readonly string[]) =>
    (socket: Socket): void => {
      const timer = setInterval(() => socket.write(pieces[Math.min(next++, pieces.length - 1)]!), 5);
      let next = 0;
      socket.on('close', () => clearInterval(timer));
    };

  test.each<[string, (socket: Socket) => void, Partial<Receipt>]>([
    ['answers', (socket) => socket.end(`${HEAD}content-length: 2${CRLF}${CRLF}ok`), { status: 200 }],
    ['closes the connection', (socket) => socket.end(), { error: 'network' }],
    ['drops the connection', (socket) => socket.resetAndDestroy(), { error: 'network' }],
    ['speaks something else', (socket) => socket.end(`SSH-2.0-OpenSSH_9.2${CRLF}`), { error: 'network' }],
    ['sends noise', (socket) => socket.end(Buffer.alloc(5000, 0xfe)), { error: 'network' }],
    ['ends within a header', (socket) => socket.end(`${HEAD}content-le`), { error: 'network' }],
    [
      'gives two lengths',
      (socket) => socket.end(`${HEAD}content-length: 1${CRLF}content-length: 2${CRLF}${CRLF}ok`),
      { error: 'network' },
    ],
    [
      'has long headers',
      (socket) => socket.end(`${HEAD}x: ${'x'.repeat(20_000)}${CRLF}${CRLF}`),
      { error: 'too-large' },
    ],
    [
      'has many headers',
      (socket) => socket.end(`${HEAD}${`x-name: value${CRLF}`.repeat(2000)}${CRLF}`),
      { error: 'too-large' },
    ],
    ['ends within the body', (socket) => socket.end(`${HEAD}content-length: 10${CRLF}${CRLF}short`), { status: 200 }],
    [
      'garbles the body',
      (socket) => socket.end(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}zzz${CRLF}`),
      { status: 200 },
    ],
    [
      'sends more than it announced',
      (socket) => socket.end(`${HEAD}content-length: 2${CRLF}${CRLF}okHTTP/1.1 500 No${CRLF}${CRLF}`),
      { status: 200 },
    ],
    [
      'switches protocols',
      (socket) => socket.write(`HTTP/1.1 101 Go${CRLF}connection: upgrade${CRLF}upgrade: x${CRLF}${CRLF}`),
      { status: 101 },
    ],
    ['sends interim answers only', drip(`HTTP/1.1 103 Early Hints${CRLF}${CRLF}`), { error: 'too-large' }],
    [
      'sends an interim answer and then one',
      drip(`HTTP/1.1 100 Continue${CRLF}${CRLF}`, `HTTP/1.1 204 No Content${CRLF}${CRLF}`),
      { status: 204 },
    ],
  ])('one that %s', async (_what, behave, expected) => {
    const port = await serveBytes(behave);
    expect(await courier().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), ...expected });
  });

  test.each<[string, (socket: Socket) => void, Partial<Receipt>]>([
    ['says nothing', () => {}, { error: 'timeout' }],
    [
      'says nothing after an interim answer',
      (socket) => socket.write(`HTTP/1.1 100 Continue${CRLF}${CRLF}`),
      { error: 'timeout' },
    ],
    ['sends its headers drop by drop', drip(HEAD, 'x: y'), { error: 'timeout' }],
    ['sends its body drop by drop', drip(`${HEAD}content-length: 100000${CRLF}${CRLF}`, 'x'), { status: 200 }],
    ['does not end', (socket) => socket.write(`${HEAD}${CRLF}so far`), { status: 200 }],
  ])('one that %s is left', async (_what, behave, expected) => {
    const left: Promise<unknown>[] = [];
    const port = await serveBytes((socket) => {
      left.push(once(socket, 'close'));
      behave(socket);
    });
    expect(await hasty().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), ...expected });
    expect(left).toHaveLength(1);
    await Promise.all(left);
  });

  test('an answer without end is cut off, and its status counts', async () => {
    const left: Promise<unknown>[] = [];
    const port = await serve(
      wellOr((_request, response) => {
        left.push(once(response, 'close'));
        response.writeHead(500);
        const more = (): void => {
          if (!response.destroyed && response.write(Buffer.alloc(16_384))) setImmediate(more);
        };
        response.on('drain', more);
        more();
      }),
    );
    expect(await courier().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), status: 500 });
    await Promise.all(left);
  });

  test('a connection that does not come about has less time than an answer', async () => {
    const silent = await serveBytes(() => {});
    const sender = courier({ timeoutMs: 400 });
    const finished: string[] = [];
    const deliver = async (scheme: string): Promise<void> => {
      const receipt = await sender.deliver({ ...at(silent), url: `${scheme}://127.0.0.1:${silent}/` });
      expect(receipt).toMatchObject({ error: 'timeout' });
      finished.push(scheme);
    };
    await Promise.all([deliver('http'), deliver('https')]);
    expect(finished).toEqual(['https', 'http']);
  });

  test('nor does a name that is not found', async () => {
    const silent = await serveBytes(() => {});
    const sender = courier({ timeoutMs: 400, resolveHost: () => new Promise(() => {}) });
    const finished: string[] = [];
    const deliver = async (url: string): Promise<void> => {
      expect(await sender.deliver({ ...at(0), url })).toMatchObject({ error: 'timeout' });
      finished.push(url);
    };
    const urls = [`http://127.0.0.1:${silent}/`, 'https://nowhere.test/'];
    await Promise.all(urls.map(deliver));
    expect(finished).toEqual(urls.reverse());
  });

  test('a port where nobody listens, and no URL at all', async () => {
    const port = await serve(() => {});
    const sender = courier();
    expect(await sender.deliver({ ...at(port), url: 'hooks.test' })).toMatchObject({ error: 'bad-url' });
    expect(await sender.deliver({ ...at(port), url: 'http://127.0.0.1:1/' })).toMatchObject({ error: 'network' });
  });
});

describe('connections', () => {
  const countSockets = (sockets: Set<Socket>): RequestListener => {
    return (request, response) => {
      sockets.add(request.socket);
      request.resume().on('end', () => response.end());
    };
  };

  test('are used again, also for another path of the same origin', async () => {
    const sockets = new Set<Socket>();
    const port = await serve(countSockets(sockets));
    const sender = courier();
    for (const path of ['/a', '/a', '/b', '/a?c']) await sender.deliver(at(port, path));
    expect(sockets.size).toBe(1);

    const lane = async (): Promise<void> => {
      for (let sent = 0; sent < 20; sent += 1) await sender.deliver(at(port));
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect(sockets.size).toBe(8);
  });

  test('are not shared by names', async () => {
    const sockets = new Set<Socket>();
    const port = await serve(countSockets(sockets));
    const sender = courier({ resolveHost: async () => ['127.0.0.1'] });
    for (const name of ['one.test', 'two.test', 'one.test', 'two.test'])
      expect(await sender.deliver({ ...at(port), url: `http://${name}:${port}/` })).toMatchObject({ status: 200 });
    expect(sockets.size).toBe(2);
  });

  test('a name is asked for once, and again after half a minute', async () => {
    const sockets = new Set<Socket>();
    const port = await serve(countSockets(sockets));
    const asked: string[] = [];
    let nowMs = 0;
    const resolveHost = async (name: string) => {
      asked.push(name);
      return ['127.0.0.1'];
    };
    const sender = courier({ resolveHost, clock: () => nowMs });
    const deliver = () => sender.deliver({ ...at(port), url: `http://one.test:${port}/` });
    await Promise.all(Array.from({ length: 10 }, deliver));
    await deliver();
    expect(asked).toHaveLength(1);
    nowMs += 30_000;
    await deliver();
    expect(asked).toHaveLength(2);
    expect(sockets.size).toBe(10);
  });

  /** The first request of a connection is answered, and the second one as `behave` says. */
  async function serveOnce(behave: (response: ServerResponse, request: IncomingMessage) => void) {
    const sockets = new Set<Socket>();
    const seen: string[] = [];
    const port = await serve(async (request, response) => {
      const isSecond = sockets.has(request.socket);
      sockets.add(request.socket);
      seen.push(await read(request));
      if (isSecond) behave(response, request);
      else response.end();
    });
    return { port, seen, sockets };
  }

  test('what meets a connection that was just closed is sent once more on a new one', async () => {
    const { port, seen, sockets } = await serveOnce((_response, request) => request.socket.destroy());
    const sender = courier();
    const parcel = at(port);
    expect(await sender.deliver(parcel)).toMatchObject({ status: 200 });
    expect(await sender.deliver(parcel)).toMatchObject({ status: 200 });
    expect(seen).toEqual([parcel.body, parcel.body, parcel.body]);
    expect(sockets.size).toBe(2);
  });

  test('but not when there was a word of an answer', async () => {
    const { port, seen } = await serveOnce((_response, request) => {
      request.socket.write('HTTP/1.1 2', () => request.socket.destroy());
    });
    const sender = courier();
    expect(await sender.deliver(at(port))).toMatchObject({ status: 200 });
    expect(await sender.deliver(at(port))).toMatchObject({ error: 'network' });
    expect(seen).toHaveLength(2);
  });

  test('nor when the connection was new', async () => {
    let requests = 0;
    const port = await serve((request) => {
      requests += 1;
      request.socket.destroy();
    });
    expect(await courier().deliver(at(port))).toMatchObject({ error: 'network' });
    expect(requests).toBe(1);
  });

  test('a closed courier breaks off what is under way and begins nothing', async () => {
    const requests: IncomingMessage[] = [];
    let arrived = (): void => {};
    const port = await serve((request) => {
      requests.push(request);
      arrived();
    });
    const sender = courier({ resolveHost: () => new Promise(() => {}) });
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const pending = [sender.deliver(at(port)), sender.deliver({ ...at(port), url: 'https://slow.test/' })];
    await first;
    const left = once(requests[0]!.socket, 'close');
    await sender.close();
    for (const receipt of await Promise.all(pending)) expect(receipt).toMatchObject({ error: 'network' });
    await left;
    expect(await sender.deliver(at(port))).toEqual({ latencyMs: 0, error: 'network' });
    expect(requests).toHaveLength(1);
  });
});

describe('TLS', () => {
  const { key, certificate: ca } = selfSigned('secure.test');
  const resolveHost = async (): Promise<readonly string[]> => ['127.0.0.1'];

  async function serveTls(handler: RequestListener) {
    const names: unknown[] = [];
    const server = createTlsServer({ key, cert: ca }, handler);
    server.on('secureConnection', (socket) => names.push(socket.servername));
    return { port: await listen(server), names };
  }

  test('the certificate must be trusted and must name the host', async () => {
    const { port, names } = await serveTls((request, response) => request.resume().on('end', () => response.end()));
    const trusting = courier({ resolveHost, ca });
    const to = (host: string): Parcel => ({ ...at(port), url: `https://${host}:${port}/` });

    expect(await trusting.deliver(to('secure.test'))).toMatchObject({ status: 200 });
    expect(await trusting.deliver(to('secure.test'))).toMatchObject({ status: 200 });
    expect(await trusting.deliver(to('secure.test.'))).toMatchObject({ status: 200 });
    expect(names).toEqual(['secure.test', 'secure.test']);
    expect(await trusting.deliver(to('other.test'))).toMatchObject({ error: 'tls' });
    expect(await trusting.deliver(to('127.0.0.1'))).toMatchObject({ error: 'tls' });
    expect(await courier({ resolveHost }).deliver(to('secure.test'))).toMatchObject({ error: 'tls' });
  });

  test('a connection that was just closed is replaced there too', async () => {
    const seen = new Set<unknown>();
    let dropped = 0;
    const { port } = await serveTls((request, response) => {
      request.resume();
      if (seen.has(request.socket)) {
        dropped += 1;
        request.socket.destroy();
      } else {
        seen.add(request.socket);
        response.end();
      }
    });
    const sender = courier({ resolveHost, ca });
    const parcel = { ...at(port), url: `https://secure.test:${port}/` };
    expect(await sender.deliver(parcel)).toMatchObject({ status: 200 });
    expect(await sender.deliver(parcel)).toMatchObject({ status: 200 });
    expect(dropped).toBe(1);
  });

  test('a receiver that does not speak it', async () => {
    const port = await serve((_request, response) => response.end());
    expect(await courier().deliver(at(port))).toMatchObject({ status: 200 });
    expect(await courier().deliver({ ...at(port), url: `https://127.0.0.1:${port}/` })).toMatchObject({ error: 'tls' });
  });
});
