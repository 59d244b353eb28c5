import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { selfSigned } from '../../test/harness/self-signed.ts';
import type { OutboundOptions } from './exchange.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import type { OutboundReason } from './outbound-error.ts';
import type { ResolveHost } from './resolve-host.ts';

const LOOPBACK = ['127.0.0.1/32'];
const BOUNDS: OutboundOptions = { timeoutMs: 20_000, maxBytes: 1024 };
const PUBLIC = '93.184.215.14';

const servers: NetServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) (server as Server).closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: NetServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const serve = (handler: RequestListener): Promise<number> => listen(createServer(handler));

/** A host whose name server is under our control: each lookup takes the next answer, the last one for ever. */
function names(...answers: readonly (readonly string[])[]): { resolveHost: ResolveHost; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolveHost: async (hostname) => {
      asked.push(hostname);
      return answers[Math.min(asked.length, answers.length) - 1] ?? [];
    },
  };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const refusedAs = (reason: OutboundReason) => expect.objectContaining({ name: 'OutboundError', reason });

describe('what may be reached', () => {
  test('an address of the list answers over plain http, whatever its status', async () => {
    const port = await serve((request, response) => {
      response.writeHead(418, { 'x-seen': `${request.method} ${request.url} ${request.headers.host}` }).end('short');
    });
    const fetch = createGuardedFetch(LOOPBACK);

    const answer = await fetch(`http://127.0.0.1:${port}/a?b=c#d`, BOUNDS);

    expect(answer).toMatchObject({ status: 418, isInsideAllowList: true });
    expect(answer.headers['x-seen']).toBe(`GET /a?b=c 127.0.0.1:${port}`);
    expect(answer.body.toString()).toBe('short');
    expect(answer).not.toHaveProperty('remoteAddress');
  });

  test('a body is sent with its length and the headers it is given, but for another host name', async () => {
    const port = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(JSON.stringify([request.headers, Buffer.concat(chunks).toString()])));
    });
    const headers = { 'content-type': 'text/plain', Host: 'other.test' };

    const answer = await createGuardedFetch(LOOPBACK)(`http://127.0.0.1:${port}/`, {
      ...BOUNDS,
      method: 'POST',
      headers,
      body: 'hello',
    });

    const [sent, body] = JSON.parse(answer.body.toString());
    expect(sent).toMatchObject({ 'content-type': 'text/plain', 'content-length': '5', host: `127.0.0.1:${port}` });
    expect(body).toBe('hello');
  });

  test.each([
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '017700000001',
    '127.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'deep.localhost',
  ])('%s is reached by the list and by nothing else', async (host) => {
    const port = await serve((_request, response) => response.end('inside'));

    const answer = await createGuardedFetch(LOOPBACK)(`http://${host}:${port}/`, BOUNDS);
    expect(answer.body.toString()).toBe('inside');

    const others = createGuardedFetch(['10.0.0.0/8']);
    await expect(others(`http://${host}:${port}/`, BOUNDS)).rejects.toEqual(refusedAs('forbidden-address'));
    await expect(createGuardedFetch([])(`https://${host}:${port}/`, BOUNDS)).rejects.toEqual(
      refusedAs('forbidden-address'),
    );
  });

  test.each([
    'https://[::1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://169.254.169.254/latest/meta-data',
    'https://[fe80::1]/',
    'https://0/',
    'https://255.255.255.255/',
  ])('%s is refused', async (url) => {
    await expect(createGuardedFetch([])(url, BOUNDS)).rejects.toEqual(refusedAs('forbidden-address'));
  });

  test('a public address is not reached over plain http', async () => {
    const { resolveHost, asked } = names([PUBLIC]);
    const fetch = createGuardedFetch(LOOPBACK, { resolveHost });

    await expect(fetch('http://issuer.test/', BOUNDS)).rejects.toEqual(refusedAs('forbidden-address'));
    expect(asked).toEqual(['issuer.test']);
  });

  test.each([
    'issuer.test',
    '//issuer.test/',
    'ftp://issuer.test/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'https://',
    'https://user@issuer.test/',
    'https://user:password@issuer.test/',
    'https://999.0.0.1/',
    `https://issuer.test/${'a'.repeat(2048)}`,
  ])('%.40s is no URL to call', async (url) => {
    const { resolveHost, asked } = names(['127.0.0.1']);
    await expect(createGuardedFetch(LOOPBACK, { resolveHost })(url, BOUNDS)).rejects.toEqual(refusedAs('bad-url'));
    expect(asked).toEqual([]);
  });
});

describe('names', () => {
  test('the address that was checked is the one that is called, though the name changes its mind', async () => {
    const port = await serve((_request, response) => response.setHeader('connection', 'close').end('checked'));
    const { resolveHost, asked } = names(['127.0.0.1'], ['10.0.0.1']);
    const fetch = createGuardedFetch(LOOPBACK, { resolveHost });

    const answer = await fetch(`http://rebind.test:${port}/`, BOUNDS);
    expect(answer.body.toString()).toBe('checked');
    expect(asked).toEqual(['rebind.test']);

    await expect(fetch(`http://rebind.test:${port}/`, BOUNDS)).rejects.toEqual(refusedAs('forbidden-address'));
    expect(asked).toEqual(['rebind.test', 'rebind.test']);
  });

  test('of several addresses only those that may be reached are called', async () => {
    const port = await serve((_request, response) => response.end('permitted'));
    const { resolveHost } = names(['10.0.0.1', '169.254.169.254', PUBLIC, '127.0.0.1']);

    const answer = await createGuardedFetch(LOOPBACK, { resolveHost })(`http://many.test:${port}/`, BOUNDS);

    expect(answer).toMatchObject({ status: 200, isInsideAllowList: true });
  });

  test('no address, an error and silence are told apart', async () => {
    const fetch = (resolveHost: ResolveHost, timeoutMs = 20_000) =>
      createGuardedFetch(LOOPBACK, { resolveHost })('https://nowhere.test/', { ...BOUNDS, timeoutMs });

    await expect(fetch(async () => [])).rejects.toEqual(refusedAs('unresolved'));
    await expect(fetch(() => Promise.reject(new Error('ENOTFOUND')))).rejects.toEqual(refusedAs('unresolved'));
    await expect(fetch(async () => ['not an address'])).rejects.toEqual(refusedAs('forbidden-address'));
    await expect(fetch(() => new Promise(() => {}), 20)).rejects.toEqual(refusedAs('timeout'));
  });
});

describe('bounds', () => {
  test('a redirect is an answer', async () => {
    let followed = 0;
    const target = await serve((_request, response) => {
      followed += 1;
      response.end();
    });
    const port = await serve((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${target}/` }).end();
    });
    const fetch = createGuardedFetch(LOOPBACK);

    await fetch(`http://127.0.0.1:${target}/`, BOUNDS);
    expect(followed).toBe(1);
    expect(await fetch(`http://127.0.0.1:${port}/`, BOUNDS)).toMatchObject({ status: 302 });
    expect(followed).toBe(1);
  });

  test.each([
    ['declared', true],
    ['not declared', false],
  ])('a body may be as long as the bound and no longer, its length %s', async (_how, declared) => {
    const port = await serve((request, response) => {
      const body = Buffer.alloc(Number(request.url?.slice(1)), 'x');
      if (declared) response.setHeader('content-length', body.length);
      response.write(body.subarray(0, 1));
      response.end(body.subarray(1));
    });
    const fetch = createGuardedFetch(LOOPBACK);

    expect((await fetch(`http://127.0.0.1:${port}/1024`, BOUNDS)).body).toHaveLength(1024);
    await expect(fetch(`http://127.0.0.1:${port}/1025`, BOUNDS)).rejects.toEqual(refusedAs('too-large'));
  });

  test('an endless answer is cut off', async () => {
    const { promise: closed, resolve: close } = deferred();
    const port = await serve((_request, response) => {
      const more = (): void => {
        if (response.write(Buffer.alloc(16_384))) setImmediate(more);
      };
      response.on('drain', more).on('close', () => close());
      more();
    });

    const answer = createGuardedFetch(LOOPBACK)(`http://127.0.0.1:${port}/`, BOUNDS);

    await expect(answer).rejects.toEqual(refusedAs('too-large'));
    await closed;
  });

  test('so are endless headers', async () => {
    const port = await serve((_request, response) => response.setHeader('x-long', 'x'.repeat(20_000)).end());
    await expect(createGuardedFetch(LOOPBACK)(`http://127.0.0.1:${port}/`, BOUNDS)).rejects.toEqual(
      refusedAs('too-large'),
    );
  });

  test.each<[string, RequestListener]>([
    ['no answer', () => {}],
    ['an answer that does not end', (_request, response) => response.write('x')],
  ])('the time is for everything: %s', async (_what, handler) => {
    const { promise: closed, resolve: close } = deferred();
    const port = await serve((request, response) => {
      response.on('close', () => close());
      if (request.url === '/soon') response.end();
      else handler(request, response);
    });
    const fetch = createGuardedFetch(LOOPBACK);

    expect(await fetch(`http://127.0.0.1:${port}/soon`, BOUNDS)).toMatchObject({ status: 200 });
    await expect(fetch(`http://127.0.0.1:${port}/`, { ...BOUNDS, timeoutMs: 30 })).rejects.toEqual(
      refusedAs('timeout'),
    );
    await closed;
  });

  test('who asked may give up', async () => {
    const giveUp = new AbortController();
    const port = await serve(() => giveUp.abort());
    const fetch = createGuardedFetch(LOOPBACK);
    const options = { ...BOUNDS, signal: giveUp.signal };

    await expect(fetch(`http://127.0.0.1:${port}/`, options)).rejects.toEqual(refusedAs('network'));
    await expect(fetch(`http://127.0.0.1:${port}/`, options)).rejects.toEqual(refusedAs('network'));
  });

  test.each<[string, (socket: Socket) => void]>([
    ['closes', (socket) => socket.destroy()],
    ['speaks something else', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
    ['cuts its answer short', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort')],
    [
      'switches protocols',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('a host that %s', async (_what, behave) => {
    const port = await listen(
      createNetServer((socket) => socket.once('data', () => behave(socket)).on('error', () => {})),
    );
    await expect(createGuardedFetch(LOOPBACK)(`http://127.0.0.1:${port}/`, BOUNDS)).rejects.toEqual(
      refusedAs('network'),
    );
  });

  test('a port where nobody listens', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    servers.splice(servers.indexOf(server), 1);

    await expect(createGuardedFetch(LOOPBACK)(`http://127.0.0.1:${port}/`, BOUNDS)).rejects.toEqual(
      refusedAs('network'),
    );
  });
});

describe('connections', () => {
  test('one is used again for the same host name, never for another', async () => {
    const sockets = new Set<Socket>();
    const port = await serve((request, response) => {
      sockets.add(request.socket);
      response.end();
    });
    const fetch = createGuardedFetch(LOOPBACK, names(['127.0.0.1']));

    await fetch(`http://one.test:${port}/`, BOUNDS);
    await fetch(`http://one.test:${port}/`, BOUNDS);
    expect(sockets.size).toBe(1);
    await fetch(`http://two.test:${port}/`, BOUNDS);
    expect(sockets.size).toBe(2);
  });

  test('one that was closed meanwhile fails no reading request, and a writing one is not sent twice', async () => {
    const served = new Set<Socket>();
    let dropped = 0;
    const port = await serve((request, response) => {
      if (served.has(request.socket)) {
        dropped += 1;
        request.socket.destroy();
      } else {
        served.add(request.socket);
        response.end();
      }
    });
    const fetch = createGuardedFetch(LOOPBACK);
    const url = `http://127.0.0.1:${port}/`;

    await fetch(url, BOUNDS);
    expect(await fetch(url, BOUNDS)).toMatchObject({ status: 200 });
    expect(dropped).toBe(1);

    await fetch(url, BOUNDS);
    await expect(fetch(url, { ...BOUNDS, method: 'POST', body: 'x' })).rejects.toEqual(refusedAs('network'));
    expect(dropped).toBe(2);
  });
});

describe('TLS', () => {
  const host = 'secure.test';
  const { key, certificate: ca } = selfSigned(host);
  const serveTls = () => listen(createTlsServer({ key, cert: ca }, (_request, response) => response.end('secret')));

  test('the certificate must be trusted and must name the host', async () => {
    const port = await serveTls();
    const { resolveHost } = names(['127.0.0.1']);
    const trusting = createGuardedFetch(LOOPBACK, { resolveHost, ca });

    const answer = await trusting(`https://${host}:${port}/`, BOUNDS);
    expect(answer).toMatchObject({ status: 200, isInsideAllowList: true });

    await expect(trusting(`https://other.test:${port}/`, BOUNDS)).rejects.toEqual(refusedAs('tls'));
    const wary = createGuardedFetch(LOOPBACK, { resolveHost });
    await expect(wary(`https://${host}:${port}/`, BOUNDS)).rejects.toEqual(refusedAs('tls'));
  });

  test('a host that does not speak it', async () => {
    const port = await serve((_request, response) => response.end());
    await expect(createGuardedFetch(LOOPBACK)(`https://127.0.0.1:${port}/`, BOUNDS)).rejects.toEqual(refusedAs('tls'));
  });

  test('an answer over a kept connection is told by where that leads, not by what the name says now', async () => {
    const port = await serveTls();
    const { resolveHost, asked } = names(['127.0.0.1'], [PUBLIC]);
    const fetch = createGuardedFetch(LOOPBACK, { resolveHost, ca });

    expect(await fetch(`https://${host}:${port}/`, BOUNDS)).toMatchObject({ isInsideAllowList: true });
    expect(await fetch(`https://${host}:${port}/`, BOUNDS)).toMatchObject({ isInsideAllowList: true });
    expect(asked).toHaveLength(2);
  });
});
