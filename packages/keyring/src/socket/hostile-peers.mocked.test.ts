import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { link, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { requireBuilt } from '../../test/fixtures/built.ts';
import type { KeyringError } from '../errors.ts';
import type { LogLine } from '../log.ts';
import { Line, type Pipe } from '../process/line.ts';
import { connectServed } from './connect.ts';
import { readExactly } from './exchange.ts';
import * as handshake from './handshake.ts';
import { readLinkKey } from './link-key.ts';
import { KeyringServer, type ServedKeyringOptions } from './server.ts';

const children: ChildProcess[] = [];
vi.mock('../process/start.ts', async (original) => {
  const real = await original<typeof import('../process/start.ts')>();
  return {
    ...real,
    startKeyringProcess: (...args: Parameters<typeof real.startKeyringProcess>) => {
      const child = real.startKeyringProcess(...args);
      children.push(child);
      return child;
    },
  };
});

let folder: string;
let path: string;
let keyFile: string;
let lines: LogLine[];
beforeAll(requireBuilt);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-peers-'));
  path = join(folder, 'run', 'keyring.sock');
  keyFile = join(folder, 'link.key');
  await writeFile(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
  lines = [];
  children.length = 0;
});
afterEach(() => rm(folder, { recursive: true }));

async function serve(options: Partial<ServedKeyringOptions> = {}): Promise<KeyringServer> {
  const rootKey = `file:${join(folder, 'root.key')}`;
  const server = await KeyringServer.listen({ path, keyFile, rootKey, log: (line) => lines.push(line), ...options });
  onTestFinished(() => server.close());
  return server;
}

/** The servers of this process that were connected to. */
function seenServers(): Set<Server> {
  const servers = new Set<Server>();
  const hear = (message: unknown): void => {
    servers.add((message as { socket: { server: Server } }).socket.server);
  };
  subscribe('net.server.socket', hear);
  onTestFinished(() => void unsubscribe('net.server.socket', hear));
  return servers;
}

/** A connection that proves nothing, is refused, and never ends its own side. */
async function refusedPeer(): Promise<Socket> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  await readExactly(socket, handshake.GREETING_BYTES, 5000);
  socket.write(randomBytes(handshake.CLAIM_BYTES));
  const reply = (await readExactly(socket, handshake.REPLY_BYTES, 5000)) as Buffer;
  expect(reply[0]).toBe(handshake.ANSWERED.wrongKey);
  return socket;
}

const open = (waitMs = 0, threads = 1) => connectServed({ path, keyFile }, threads, { waitMs });

async function opened(threads = 1) {
  const child = await open(0, threads);
  const { METHODS } = await import('../calls/table.ts');
  child.send?.({ create: true, methods: METHODS }, () => {});
  const [notice] = await once(child, 'message');
  expect(notice).toMatchObject({ type: 'ready' });
  return child;
}

test('what requires integrity is answered only once the folder of the ring is synchronized', async () => {
  await serve();
  const child = await opened();
  const [pipe] = (child.stdio?.slice(4) ?? []) as [Pipe];
  const line = new Line(pipe, () => {});
  const host = children.at(-1) as ChildProcess;
  const said: string[] = [];
  host.on('message', ({ type }: { type: string }) => said.push(type));
  // What the keyring answers its process is held back.
  const held: [message: object, sent: () => void][] = [];
  const send = vi.spyOn(host, 'send').mockImplementation(((message: object, sent: () => void) => {
    held.push([message, sent]);
    return true;
  }) as typeof host.send);
  let answered = 0;
  const require = async (): Promise<void> => {
    await line.call('requireIntegrity', ['0a'.repeat(16)]);
    answered += 1;
  };
  const first = require();
  await vi.waitFor(() => expect(held.map(([message]) => message)).toEqual([{ type: 'synced' }]));
  // Also one that finds the id in the ring: the change may not be durable yet.
  const second = require();
  await line.call('integrityRequired', []);
  expect([answered, said]).toEqual([0, ['changed']]);
  send.mockRestore();
  for (const [message, sent] of held) host.send(message, sent);
  await Promise.all([first, second]);
  expect([answered, said]).toEqual([2, ['changed', 'changed']]);
  child.disconnect();
});

test('peers that never end their side are cut off, and count until then', async () => {
  const servers = seenServers();
  await serve({ handshakeMs: 400 });
  await Promise.all(Array.from({ length: 50 }, refusedPeer));
  const [server] = [...servers] as [Server];
  const count = () => new Promise<number>((resolve) => server.getConnections((_, number) => resolve(number)));
  await vi.waitFor(async () => expect(await count()).toBe(0), { timeout: 4000 });
});

test('a keyring that is closed does not wait for its peers', async () => {
  const server = await serve();
  await refusedPeer();
  const silent = connect({ path, allowHalfOpen: true });
  onTestFinished(() => void silent.destroy());
  await once(silent, 'data');
  await server.close();
});

test('an error of the listening socket ends nothing, and is logged', async () => {
  const servers = seenServers();
  await serve();
  await refusedPeer();
  for (const server of servers) server.emit('error', Object.assign(new Error('no descriptors'), { code: 'EMFILE' }));
  expect(lines.some(({ msg }) => msg === 'connections not accepted')).toBe(true);
  (await open()).disconnect();
});

test('refusals are logged once a second', async () => {
  await serve();
  for (let peer = 0; peer < 3; peer += 1) await refusedPeer();
  expect(lines).toEqual([{ level: 40, msg: 'connections refused', refused: 1, reason: 'no proof of the key' }]);
});

test('a session counts until its process is gone', async () => {
  const server = await serve({ sessionsMax: 1 });
  const service = await opened();
  const [child] = children as [ChildProcess];
  child.kill('SIGSTOP');
  service.disconnect();
  await once(service, 'exit');
  await expect(open()).rejects.toThrow('has as many services as it takes');
  expect(server.sessionCount).toBe(1);
  child.kill('SIGCONT');
  await vi.waitFor(() => expect(server.sessionCount).toBe(0));
  (await open()).disconnect();
});

test('a process is woken once, however often it is asked for', async () => {
  await serve();
  const service = await opened(3);
  const [child] = children as [ChildProcess];
  const sent = vi.spyOn(child, 'send');
  const woken: unknown[] = [];
  service.on('message', (notice) => woken.push(notice));
  for (let call = 0; call < 500; call += 1) service.send?.({ type: 'wake' }, () => {});
  await vi.waitFor(() => expect(woken).toHaveLength(2), { timeout: 10_000 });
  for (let call = 0; call < 500; call += 1) service.send?.({ type: 'wake' }, () => {});
  expect(sent).toHaveBeenCalledTimes(1);
  service.disconnect();
});

/** What answers as a keyring does, with connections that the test decides over. */
async function pretend(act: (socket: Socket, claim: handshake.Claim, accept: () => void) => void): Promise<void> {
  const key = await readLinkKey(keyFile);
  const server = createServer(async (socket) => {
    socket.on('error', () => {});
    const { bytes, nonce } = handshake.greet();
    socket.write(bytes);
    const said = await readExactly(socket, handshake.CLAIM_BYTES, 5000);
    const claim = said && handshake.checkClaim(key, said, nonce);
    if (claim === undefined) return;
    const session = claim.kind === handshake.CONNECTION.session ? Buffer.alloc(16, 1) : claim.session;
    act(socket, claim, () => void socket.write(handshake.accept(key, claim, session, nonce)));
  });
  await mkdir(dirname(path), { mode: 0o750 });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
}

test.each(['control', 'line'] as const)(
  'a %s that closes before all lines are there ends the session',
  async (which) => {
    let control: Socket;
    await pretend((socket, { kind, index }, accept) => {
      if (kind === handshake.CONNECTION.session) {
        control = socket;
        accept();
      } else if (index === 0) {
        accept();
        (which === 'control' ? control : socket).end();
      } else setTimeout(accept, 200);
    });
    const child = await open(0, 2);
    await once(child, 'exit');
    expect(child.connected).toBe(false);
  },
);

test('a keyring that goes away during the handshake is tried again', async () => {
  let turn = 0;
  await pretend((socket, _claim, accept) => {
    turn += 1;
    // A session without its reply, then one without its line.
    if (turn === 1 || turn === 3) socket.destroy();
    else accept();
  });
  (await open(10_000)).disconnect();
  expect(turn).toBe(5);
  turn = 0;
  await expect(open()).rejects.toThrow('does not answer');
  expect(turn).toBe(1);
});

test('a keyring that is too busy to take a connection is not taken for an abandoned one', async () => {
  await mkdir(dirname(path), { mode: 0o750 });
  const stuck = `require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
    process.stdout.write('x');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  })`;
  const child = spawn(process.execPath, ['-e', stuck, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  for (;;) {
    const socket = connect(path);
    onTestFinished(() => void socket.destroy());
    const failed = await Promise.race([
      once(socket, 'connect').then(() => false),
      once(socket, 'error').then(() => true),
    ]).catch(() => true);
    if (failed) break;
  }
  await expect(serve()).rejects.toThrow('has a keyring that listens already');
});

test('after a keyring that was killed, exports wait for a minute', async () => {
  const abandoned = createServer();
  await mkdir(dirname(path), { mode: 0o750 });
  abandoned.listen(path);
  await once(abandoned, 'listening');
  await link(path, `${path}.kept`);
  abandoned.close();
  await once(abandoned, 'close');
  await rename(`${path}.kept`, path);
  const server = await serve();
  const wanted = { kind: 'export', what: 'exportWallet', organizationId: 'o', ownerIds: ['w'] } as const;
  const refused = (await server.transfers.admit(wanted).catch((error: unknown) => error)) as KeyringError;
  expect(refused.code).toBe('TOO_MANY_EXPORTS');
  expect(refused.retryAfterSeconds).toBeGreaterThan(50);
  await server.close();
  await (await serve()).transfers.admit(wanted);
});
