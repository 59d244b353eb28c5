import { once } from 'node:events';
import { Agent, request as open } from 'node:http';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen, serve, serveBytes } from '../../test/harness/loopback.ts';
import { type Bounds, converse, type Listener, type Outcome } from './converse.ts';
import { OutboundError } from './outbound-error.ts';

const BOUNDS: Bounds = { maxBytes: 10 };
const forbidden = new OutboundError('forbidden-address', 'not there');
const refuse = (): void => {
  throw forbidden;
};

function ask(
  port: number,
  more: Omit<Listener, 'ended'> = {},
  bounds = BOUNDS,
  agent: Agent | false = false,
): Promise<Outcome> {
  return new Promise((ended) => {
    converse(open({ host: '127.0.0.1', port, method: 'POST', agent }), 'body', bounds, { ...more, ended });
  });
}

test('a peer that may not be talked to hears nothing', async () => {
  const heard: number[] = [];
  const server = createServer((socket) => {
    socket.on('data', ({ length }) => {
      heard.push(length);
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
    socket.on('close', () => server.emit('left'));
  });
  const port = await listen(server);
  const addresses: string[] = [];
  const remember = (address: string): void => void addresses.push(address);
  const first = once(server, 'left');
  expect(await ask(port, { checkPeer: remember })).toMatchObject({ status: 204, remoteAddress: '127.0.0.1' });
  await first;
  expect(addresses).toEqual(['127.0.0.1']);
  expect(heard).toHaveLength(1);

  const left = once(server, 'left');
  expect(await ask(port, { checkPeer: refuse })).toBe(forbidden);
  await left;
  expect(heard).toHaveLength(1);
});

test('nor on a connection that was kept', async () => {
  const seen: Socket[] = [];
  const port = await serve((request, response) => {
    seen.push(request.socket);
    request.resume().on('end', () => response.end());
  });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  expect(await ask(port, {}, BOUNDS, agent)).toMatchObject({ status: 200 });
  expect(await ask(port, {}, BOUNDS, agent)).toMatchObject({ status: 200 });
  expect(seen[1]).toBe(seen[0]);

  const closed = once(seen[0]!, 'close');
  expect(await ask(port, { checkPeer: refuse }, BOUNDS, agent)).toBe(forbidden);
  await closed;
  expect(seen).toHaveLength(2);
});

test('only a new connection is told of', async () => {
  const port = await serve((request, response) => request.resume().on('end', () => response.end()));
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const told: string[] = [];
  const listener = { opening: () => told.push('opening'), opened: () => told.push('opened') };
  await ask(port, listener, BOUNDS, agent);
  expect(told).toEqual(['opening', 'opened']);
  await ask(port, listener, BOUNDS, agent);
  expect(told).toEqual(['opening', 'opened']);
});

test.each<[string, string, object, object]>([
  [
    'as long as it may be',
    'content-length: 10\r\n\r\n0123456789',
    { status: 200, body: Buffer.from('0123456789') },
    { status: 200, body: Buffer.from('0123456789') },
  ],
  [
    'too long',
    'content-length: 12\r\n\r\n0123456789ab',
    { reason: 'too-large' },
    { status: 200, body: Buffer.from('0123456789') },
  ],
  ['cut short', 'content-length: 8\r\n\r\n0123', { reason: 'network' }, { status: 200, body: Buffer.from('0123') }],
  ['without its head', '', { reason: 'network' }, { reason: 'network' }],
])('an answer that is %s, and who accepts a part of it', async (_what, rest, whole, partial) => {
  const port = await serveBytes((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
  expect(await ask(port)).toMatchObject(whole);
  expect(await ask(port, {}, { ...BOUNDS, acceptPartial: true })).toMatchObject(partial);
});

test('who broke off is told once, and why', async () => {
  const port = await serveBytes(() => {});
  const outcomes: Outcome[] = [];
  const request = open({ host: '127.0.0.1', port, method: 'POST', agent: false });
  const closed = new Promise((resolve) => request.on('close', resolve));
  const breakOff = converse(request, 'body', BOUNDS, { ended: (outcome) => outcomes.push(outcome) });
  const reason = new OutboundError('timeout', 'late');
  breakOff(reason);
  breakOff(forbidden);
  await closed;
  expect(outcomes).toEqual([reason]);
});
