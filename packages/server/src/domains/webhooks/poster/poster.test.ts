import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listen, serve, serveBytes } from '../../../../test/harness/loopback.ts';
import { selfSigned } from '../../../../test/harness/self-signed.ts';
import { createHostCache } from '../../../outbound/host-cache.ts';
import { startPost } from './post.ts';
import { localPoster, type Poster } from './poster.ts';
import type { LocalPosterParts, Posting, Receipt } from './posting.ts';
import { createRoutes } from './routes.ts';
import { webhookGuard } from './rules.ts';
import { createSlots } from './slots.ts';

const HEADERS = ['Content-Type', 'application/json', 'X-Service-Event-Id', 'event-1'];

function poster(parts: Partial<LocalPosterParts> = {}): Poster {
  const made = localPoster({ allow: ['127.0.0.1/32'], ...parts });
  onTestFinished(() => made.close());
  return made;
}

const at = (port: number, path = '/hook'): Posting => ({
  url: `http://127.0.0.1:${port}${path}`,
  headers: HEADERS,
  body: '{"name":"Zoë"}',
});

/** A few turns of the event loop, in which everything that is under way on loopback arrives. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

/** From now on the time of timeouts passes only when it is told to. */
function stopTime(): (ms: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return async (ms) => {
    vi.advanceTimersByTime(ms);
    await turns();
  };
}

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
  test('one POST with the headers and the bytes of the posting', async () => {
    const seen: unknown[] = [];
    const port = await serve(async (request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: await read(request) });
      response.writeHead(201).end();
    });

    const receipt = await poster().deliver(at(port, '/hook?a=b'));

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
    const posting = at(port);
    expect(await poster().deliver(posting)).toMatchObject({ status: 200 });
    const split = { ...posting, headers: [...HEADERS, 'X-Service-Event-Type', 'A\r\nX-Other: B'] };
    expect(await poster().deliver(split)).toMatchObject({ error: 'network' });
  });
});

describe('what comes back', () => {
  test.each([200, 204, 299, 302, 304, 400, 408, 410, 429, 500, 503, 599])('%i is an answer', async (status) => {
    const port = await serve(wellOr((_request, response) => response.writeHead(status).end()));
    expect(await poster().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), status });
  });

  test('a redirect is not followed', async () => {
    let visits = 0;
    const port = await serve((request, response) => {
      request.resume();
      if (request.url === '/elsewhere') visits += 1;
      response.writeHead(request.url === '/hook' ? 307 : 200, { location: '/elsewhere' }).end();
    });
    const sender = poster();
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
    const sender = poster();
    expect(await sender.deliver(at(port))).toMatchObject({ retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    expect(await sender.deliver(at(port, '/long'))).toMatchObject({ retryAfter: '9'.repeat(64) });
    expect(await sender.deliver(at(port, '/well'))).not.toHaveProperty('retryAfter');
  });

  test('the answer is shown for public targets, and never for those of the list', async () => {
    const port = await serve(wellOr((_request, response) => response.end('\u001bWrong')));
    expect(await poster().deliver(at(port))).not.toHaveProperty('answer');

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
    const receipt = await new Promise<Receipt>((resolve) => startPost(parts, at(port), resolve));
    expect(receipt).toMatchObject({ status: 200, answer: '\ufffdWrong' });
  });
});

describe('receivers that misbehave', () => {
  const CRLF = '\r\n';
  const HEAD = `HTTP/1.1 200 OK${CRLF}`;

  /** Says one piece after the other, each by itself, and then `said`. */
  const say =
    (...pieces: readonly string[]) =>
    async (socket: Socket): Promise<void> => {
      for (const piece of pieces) {
        await new Promise((resolve) => socket.write(piece, resolve));
        await turns();
      }
      socket.emit('said');
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
    [
      'sends interim answers only',
      say(...Array<string>(17).fill(`HTTP/1.1 103 Early Hints${CRLF}${CRLF}`)),
      { error: 'too-large' },
    ],
    [
      'sends an interim answer and then one',
      say(`HTTP/1.1 100 Continue${CRLF}${CRLF}`, `HTTP/1.1 204 No Content${CRLF}${CRLF}`),
      { status: 204 },
    ],
  ])('one that %s', async (_what, behave, expected) => {
    const port = await serveBytes(behave);
    expect(await poster().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), ...expected });
  });

  test.each<[string, (socket: Socket) => void, Partial<Receipt>]>([
    ['says nothing', (socket) => socket.emit('said'), { error: 'timeout' }],
    ['says nothing after an interim answer', say(`HTTP/1.1 100 Continue${CRLF}${CRLF}`), { error: 'timeout' }],
    ['sends its headers drop by drop', say(HEAD, 'x', ': y', CRLF, 'z'), { error: 'timeout' }],
    ['sends its body drop by drop', say(`${HEAD}content-length: 99${CRLF}${CRLF}`, 'x', 'y'), { status: 200 }],
    ['does not end', say(`${HEAD}${CRLF}so far`), { status: 200 }],
  ])('one that %s is left after ten seconds', async (_what, behave, expected) => {
    const pass = stopTime();
    const receiver = new EventEmitter();
    const port = await serveBytes((socket) => {
      socket.on('said', () => receiver.emit('said')).on('close', () => receiver.emit('left'));
      behave(socket);
    });
    const [said, left] = [once(receiver, 'said'), once(receiver, 'left')];
    let isOver = false;
    const delivery = poster().deliver(at(port));
    void delivery.then(() => {
      isOver = true;
    });
    await said;
    await pass(9999);
    expect(isOver).toBe(false);
    await pass(1);
    expect(await delivery).toEqual({ latencyMs: expect.any(Number), ...expected });
    await left;
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
    expect(await poster().deliver(at(port))).toEqual({ latencyMs: expect.any(Number), status: 500 });
    await Promise.all(left);
  });

  test('a name and a connection have five seconds of them', async () => {
    const pass = stopTime();
    const receiver = new EventEmitter();
    const port = await serveBytes(() => receiver.emit('heard'));
    const sender = poster({ resolveHost: () => new Promise(() => {}) });
    const finished: string[] = [];
    const start = async (url: string): Promise<void> => {
      expect(await sender.deliver({ ...at(port), url })).toMatchObject({ error: 'timeout' });
      finished.push(url);
    };
    const name = start('https://nowhere.test/');
    const urls = [`http://127.0.0.1:${port}/`, `https://127.0.0.1:${port}/`];
    const deliveries: Promise<void>[] = [];
    for (const url of urls) {
      const heard = once(receiver, 'heard');
      deliveries.push(start(url));
      await heard;
    }
    // What passed in reality counts as well for a connection.
    await pass(4000);
    expect(finished).toEqual([]);
    await pass(1000);
    await Promise.all([name, deliveries[1]]);
    expect(finished).toHaveLength(2);
    await pass(5000);
    await deliveries[0];
  });

  test('a port where nobody listens, and no URL at all', async () => {
    const port = await serve(() => {});
    const sender = poster();
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
    const sender = poster();
    for (const path of ['/a', '/a', '/b', '/a?c']) await sender.deliver(at(port, path));
    expect(sockets.size).toBe(1);

    const queue = async (): Promise<void> => {
      for (let sent = 0; sent < 20; sent += 1) await sender.deliver(at(port));
    };
    await Promise.all(Array.from({ length: 8 }, queue));
    expect(sockets.size).toBe(8);
  });

  test('are not shared by names', async () => {
    const sockets = new Set<Socket>();
    const port = await serve(countSockets(sockets));
    const sender = poster({ resolveHost: async () => ['127.0.0.1'] });
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
    const sender = poster({ resolveHost, clock: () => nowMs });
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
    const sender = poster();
    const posting = at(port);
    expect(await sender.deliver(posting)).toMatchObject({ status: 200 });
    expect(await sender.deliver(posting)).toMatchObject({ status: 200 });
    expect(seen).toEqual([posting.body, posting.body, posting.body]);
    expect(sockets.size).toBe(2);
  });

  test('but not when there was a word of an answer', async () => {
    const { port, seen } = await serveOnce((_response, request) => {
      request.socket.write('HTTP/1.1 2', () => request.socket.destroy());
    });
    const sender = poster();
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
    expect(await poster().deliver(at(port))).toMatchObject({ error: 'network' });
    expect(requests).toBe(1);
  });

  test('a closed poster breaks off what is under way and begins nothing', async () => {
    const requests: IncomingMessage[] = [];
    let arrived = (): void => {};
    const port = await serve((request) => {
      requests.push(request);
      arrived();
    });
    const sender = poster({ resolveHost: () => new Promise(() => {}) });
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
    server.on('secureConnection', (socket) => names.push('servername' in socket && socket.servername));
    return { port: await listen(server), names };
  }

  test('the certificate must be trusted and must name the host', async () => {
    const { port, names } = await serveTls((request, response) => request.resume().on('end', () => response.end()));
    const trusting = poster({ resolveHost, ca });
    const to = (host: string): Posting => ({ ...at(port), url: `https://${host}:${port}/` });

    expect(await trusting.deliver(to('secure.test'))).toMatchObject({ status: 200 });
    expect(await trusting.deliver(to('secure.test'))).toMatchObject({ status: 200 });
    expect(await trusting.deliver(to('secure.test.'))).toMatchObject({ status: 200 });
    expect(names).toEqual(['secure.test', 'secure.test']);
    expect(await trusting.deliver(to('other.test'))).toMatchObject({ error: 'tls' });
    expect(await trusting.deliver(to('127.0.0.1'))).toMatchObject({ error: 'tls' });
    expect(await poster({ resolveHost }).deliver(to('secure.test'))).toMatchObject({ error: 'tls' });
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
    const sender = poster({ resolveHost, ca });
    const posting = { ...at(port), url: `https://secure.test:${port}/` };
    expect(await sender.deliver(posting)).toMatchObject({ status: 200 });
    expect(await sender.deliver(posting)).toMatchObject({ status: 200 });
    expect(dropped).toBe(1);
  });

  test('a receiver that does not speak it', async () => {
    const port = await serve((_request, response) => response.end());
    expect(await poster().deliver(at(port))).toMatchObject({ status: 200 });
    expect(await poster().deliver({ ...at(port), url: `https://127.0.0.1:${port}/` })).toMatchObject({ error: 'tls' });
  });
});
