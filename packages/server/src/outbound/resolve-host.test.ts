import { createSocket, type Socket } from 'node:dgram';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createResolveHost } from './resolve-host.ts';

const A = 1;
const AAAA = 28;

/** What the name server below knows. */
const ZONE: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  'both.test': { [A]: ['5db8d70e', '0a000001'], [AAAA]: ['20010db8000000000000000000000001'] },
  'old.test': { [A]: ['5db8d70e'] },
  'new.test': { [AAAA]: ['00000000000000000000000001010101'] },
};

let socket: Socket;
let asked: string[];

beforeEach(async () => {
  asked = [];
  socket = createSocket('udp4');
  socket.on('message', (query, peer) => socket.send(answer(query), peer.port, peer.address));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
});

afterEach(() => new Promise<void>((resolve) => socket.close(resolve)));

/** RFC 1035, section 4.1: the question again, then one record for each address. */
function answer(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join('.');
  const type = query.readUInt16BE(at + 1);
  asked.push(name);
  const records = ZONE[name]?.[type] ?? [];
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(ZONE[name] === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const body = records.map((hex) => {
    const data = Buffer.from(hex, 'hex');
    return Buffer.concat([Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
  });
  return Buffer.concat([header, query.subarray(12, at + 5), ...body]);
}

const servers = (): readonly string[] => [`127.0.0.1:${socket.address().port}`];

test.each([
  ['both.test', ['93.184.215.14', '10.0.0.1', '2001:db8::1']],
  ['old.test', ['93.184.215.14']],
  ['new.test', ['::1.1.1.1']],
])('%s has every address that the name server has', async (name, addresses) => {
  expect([...(await createResolveHost(undefined, servers())(name))].sort()).toEqual([...addresses].sort());
});

test('what no name server knows is asked elsewhere, if there is an elsewhere', async () => {
  const elsewhere: string[] = [];
  const withHosts = createResolveHost(async (name) => {
    elsewhere.push(name);
    return ['192.168.0.9'];
  }, servers());

  expect(await withHosts('old.test')).toEqual(['93.184.215.14']);
  expect(await withHosts('hosts.test')).toEqual(['192.168.0.9']);
  expect(elsewhere).toEqual(['hosts.test']);
  expect(await createResolveHost(undefined, servers())('hosts.test')).toEqual([]);
});

test.each(['localhost', 'a.localhost', 'localhost.'])('%s is here, and nobody is asked', async (name) => {
  const resolveHost = createResolveHost(undefined, servers());
  expect(await resolveHost(name)).toEqual(['127.0.0.1', '::1']);
  expect(asked).toEqual([]);
  await resolveHost('notlocalhost');
  expect(asked).toContain('notlocalhost');
});
