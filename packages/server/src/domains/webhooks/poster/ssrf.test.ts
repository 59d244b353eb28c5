import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serve } from '../../../../test/harness/loopback.ts';
import { createTargetCheck } from '../target.ts';
import { localPoster } from './poster.ts';
import type { Receipt } from './posting.ts';

// Where a tenant may send us, at registration and at each delivery. Every attack stands beside what is permitted.

const LOOPBACK = ['127.0.0.1/32'];
const ELSEWHERE = ['10.255.0.0/16'];
const PUBLIC = '93.184.215.14';

interface World {
  readonly port: number;
  readonly requests: { readonly host: string | undefined; readonly socket: Socket }[];
  readonly asked: string[];
  /** What the name server says. */
  records: readonly string[];
  nowMs: number;
  register(url: string): Promise<'registered' | string>;
  deliver(url: string): Promise<Receipt>;
}

/** A receiver on loopback, a name server that says what it is told, and an operator who allows some addresses. */
async function world(allow: readonly string[]): Promise<World> {
  const requests: World['requests'] = [];
  const port = await serve((request, response) => {
    requests.push({ host: request.headers.host, socket: request.socket });
    request.resume().on('end', () => response.end());
  });
  const asked: string[] = [];
  const made = { port, requests, asked, records: ['127.0.0.1'] as readonly string[], nowMs: 0 };
  const resolveHost = async (name: string): Promise<readonly string[]> => {
    asked.push(name);
    return made.records;
  };
  const poster = localPoster({ allow, resolveHost, clock: () => made.nowMs });
  onTestFinished(() => poster.close());
  const check = createTargetCheck(allow, { resolveHost });
  return Object.assign(made, {
    register: (url: string) =>
      check(url).then(
        () => 'registered' as const,
        (error: { code: string }) => error.code,
      ),
    deliver: (url: string) => poster.deliver({ url, headers: [], body: '{}' }),
  });
}

const DELIVERED = { latencyMs: expect.any(Number), status: 200 };
const refused = (error: string) => ({ latencyMs: expect.any(Number), error });

async function expectDelivered(here: World, url: string): Promise<void> {
  expect(await here.register(url)).toBe('registered');
  const before = here.requests.length;
  expect(await here.deliver(url)).toEqual(DELIVERED);
  expect(here.requests).toHaveLength(before + 1);
}

async function expectRefused(here: World, url: string, error = 'forbidden-address'): Promise<void> {
  const before = here.requests.length;
  expect(await here.register(url)).toBe('INVALID_WEBHOOK_URL');
  expect(await here.deliver(url)).toEqual(refused(error));
  expect(here.requests).toHaveLength(before);
}

describe('an address in the URL', () => {
  test.each([
    ['plain', '127.0.0.1'],
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['octal in one', '017700000001'],
    ['hexadecimal', '0x7f.0x0.0x0.0x1'],
    ['hexadecimal in one', '0x7f000001'],
    ['short', '127.1'],
    ['with a dot at its end', '127.0.0.1.'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['in other digits', '①②⑦.⓪.⓪.①'],
    ['with other dots', '127。0。0。1'],
    ['mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['mapped in hexadecimal', '[::ffff:7f00:1]'],
    ['mapped in full', '[0:0:0:0:0:ffff:7f00:0001]'],
  ])('loopback, %s, is for those who allow it', async (_how, host) => {
    const open = await world(LOOPBACK);
    await expectDelivered(open, `http://${host}:${open.port}/`);
    const closed = await world(ELSEWHERE);
    await expectRefused(closed, `http://${host}:${closed.port}/`);
    await expectRefused(closed, `https://${host}:${closed.port}/`);
    expect(closed.asked).toEqual([]);
  });

  test.each([
    ['this host', '0.0.0.0'],
    ['this host', '0'],
    ['this host', '[::]'],
    ['loopback', '[::1]'],
    ['loopback elsewhere in its block', '127.8.8.8'],
    ['compatible', '[::127.0.0.1]'],
    ['translated', '[::ffff:0:127.0.0.1]'],
    ['NAT64', '[64:ff9b::127.0.0.1]'],
    ['local NAT64', '[64:ff9b:1::7f00:1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['Teredo', '[2001:0:7f00:1::80ff:fffe]'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '192.168.0.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['link-local', '169.254.1.1'],
    ['link-local', '[fe80::1]'],
    ['unique local', '[fd00::1]'],
    ['metadata', '169.254.169.254'],
    ['metadata in decimal', '2852039166'],
    ['metadata mapped', '[::ffff:169.254.169.254]'],
    ['metadata by NAT64', '[64:ff9b::a9fe:a9fe]'],
    ['metadata by 6to4', '[2002:a9fe:a9fe::]'],
    ['metadata', '[fd00:ec2::254]'],
    ['metadata that looks public', '168.63.129.16'],
    ['metadata in a shared block', '100.100.100.200'],
    ['multicast', '224.0.0.1'],
    ['multicast', '[ff02::1]'],
    ['broadcast', '255.255.255.255'],
  ])('%s: %s is refused beside loopback that is allowed', async (_what, host) => {
    const here = await world(LOOPBACK);
    await expectDelivered(here, `http://127.0.0.1:${here.port}/`);
    await expectRefused(here, `http://${host}:${here.port}/`);
    await expectRefused(here, `https://${host}/`);
    expect(await here.register(`https://${PUBLIC}/`)).toBe('registered');
  });
});

describe('the records of a name', () => {
  test.each([
    ['127.0.0.2'],
    ['::1'],
    ['::127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::ffff:169.254.169.254'],
    ['fd00:ec2::254'],
    ['fe80::1'],
    ['fe80::1%lo'],
    ['0.0.0.0'],
    ['::'],
    ['2130706433'],
    ['0x7f000001'],
    ['127.1'],
    [''],
  ])('%s is refused alone and beside a good one', async (bad) => {
    const here = await world(LOOPBACK);
    const url = (name: string) => `http://${name}:${here.port}/`;
    await expectDelivered(here, url('good.test'));
    here.records = [bad];
    await expectRefused(here, url('bad.test'));
    here.records = ['127.0.0.1', bad];
    await expectRefused(here, url('mixed.test'));
    here.records = [bad, '127.0.0.1'];
    await expectRefused(here, url('other.test'));
  });

  test('a public one is not reached over plain http, nor at a port of another service', async () => {
    const here = await world(LOOPBACK);
    await expectDelivered(here, `http://one.test:${here.port}/`);
    here.records = [PUBLIC];
    expect(await here.register('https://two.test/')).toBe('registered');
    expect(await here.register('https://two.test:1024/')).toBe('registered');
    await expectRefused(here, 'http://two.test/');
    await expectRefused(here, `http://two.test:${here.port}/`);
    for (const port of [22, 25, 53, 80, 1023]) await expectRefused(here, `https://two.test:${port}/`, 'bad-url');
  });

  test('no record at all', async () => {
    const here = await world(LOOPBACK);
    await expectDelivered(here, `http://one.test:${here.port}/`);
    here.records = [];
    await expectRefused(here, `http://two.test:${here.port}/`, 'unresolved');
  });

  test.each(['localhost', 'LOCALHOST', 'a.localhost', 'localhost.', 'a.localhost.'])('%s is loopback', async (name) => {
    // Without a name server of ours: these names are never asked of anybody.
    const port = await serve((request, response) => request.resume().on('end', () => response.end()));
    const deliver = async (allow: readonly string[]): Promise<Receipt> => {
      const poster = localPoster({ allow });
      onTestFinished(() => poster.close());
      return await poster.deliver({ url: `http://${name}:${port}/`, headers: [], body: '{}' });
    };
    expect(await deliver([...LOOPBACK, '::1/128'])).toEqual(DELIVERED);
    expect(await deliver(LOOPBACK)).toEqual(refused('forbidden-address'));
    expect(await deliver([])).toEqual(refused('forbidden-address'));
    await expect(createTargetCheck([])(`https://${name}/`)).rejects.toMatchObject({ code: 'INVALID_WEBHOOK_URL' });
  });

  test('a dot at the end changes nothing', async () => {
    const here = await world(LOOPBACK);
    await expectDelivered(here, `http://one.test.:${here.port}/`);
    here.records = ['10.0.0.1'];
    await expectRefused(here, `http://two.test.:${here.port}/`);
  });
});

describe('rebinding', () => {
  test('between registration and delivery', async () => {
    const here = await world(LOOPBACK);
    const url = `http://rebind.test:${here.port}/`;
    expect(await here.register(url)).toBe('registered');
    here.records = ['169.254.169.254'];
    expect(await here.deliver(url)).toEqual(refused('forbidden-address'));
    expect(here.requests).toEqual([]);

    here.nowMs += 30_000;
    here.records = ['127.0.0.1'];
    expect(await here.deliver(url)).toEqual(DELIVERED);
  });

  test('between deliveries: what was checked is called, and a new answer is checked again', async () => {
    const here = await world(LOOPBACK);
    const url = `http://rebind.test:${here.port}/`;
    expect(await here.deliver(url)).toEqual(DELIVERED);
    here.records = ['10.0.0.1'];
    expect(await here.deliver(url)).toEqual(DELIVERED);
    expect(here.asked).toEqual(['rebind.test']);

    // The connection is still there, and is no way round the check.
    here.nowMs += 30_000;
    expect(await here.deliver(url)).toEqual(refused('forbidden-address'));
    expect(here.asked).toEqual(['rebind.test', 'rebind.test']);
    expect(here.requests).toHaveLength(2);
  });

  test('between check and connection: nobody is asked a second time', async () => {
    const here = await world(LOOPBACK);
    const url = `http://rebind.test:${here.port}/`;
    const delivery = here.deliver(url);
    here.records = ['10.0.0.1'];
    expect(await delivery).toEqual(DELIVERED);
    expect(here.asked).toEqual(['rebind.test']);
  });

  test('a kept connection is used for as long as the name leads there', async () => {
    const here = await world(LOOPBACK);
    const url = `http://moving.test:${here.port}/`;
    for (const records of [['127.0.0.1'], ['127.0.0.1'], ['::ffff:127.0.0.1'], ['127.0.0.1']]) {
      here.records = records;
      expect(await here.deliver(url)).toEqual(DELIVERED);
      here.nowMs += 30_000;
    }
    const [first, second, third, fourth] = here.requests.map(({ socket }) => socket);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(fourth).toBe(first);
  });
});

describe('the rest of a URL', () => {
  test('user information is refused', async () => {
    const here = await world(LOOPBACK);
    await expectDelivered(here, `http://one.test:${here.port}/`);
    await expectRefused(here, `http://user@one.test:${here.port}/`, 'bad-url');
    await expectRefused(here, `http://user:password@one.test:${here.port}/`, 'bad-url');
    await expectRefused(here, `http://127.0.0.1:${here.port}@one.test:${here.port}/`, 'bad-url');
  });

  test.each(['ftp', 'file', 'gopher', 'ws', 'wss', 'unix', 'data'])('%s: is refused', async (scheme) => {
    const here = await world(LOOPBACK);
    await expectDelivered(here, `http://one.test:${here.port}/`);
    await expectRefused(here, `${scheme}://one.test:${here.port}/`, 'bad-url');
  });

  test.each(['http://127.0.0.1/', 'http://169.254.169.254/latest/meta-data', '//10.0.0.1/', '/inside'])(
    'a redirect to %s leads nowhere',
    async (location) => {
      const paths: (string | undefined)[] = [];
      const port = await serve((request, response) => {
        paths.push(request.url);
        request.resume();
        response.writeHead(request.url === '/well' ? 200 : 308, { location }).end();
      });
      const poster = localPoster({ allow: LOOPBACK });
      onTestFinished(() => poster.close());
      const deliver = (path: string) =>
        poster.deliver({ url: `http://127.0.0.1:${port}${path}`, headers: [], body: '{}' });
      expect(await deliver('/well')).toEqual(DELIVERED);
      expect(await deliver('/hook')).toEqual({ latencyMs: expect.any(Number), status: 308 });
      expect(paths).toEqual(['/well', '/hook']);
    },
  );
});
