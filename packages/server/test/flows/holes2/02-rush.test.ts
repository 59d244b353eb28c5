import dns from 'node:dns';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { startService } from '../../../src/service.ts';
import { statusOf, temporaryFolder, waitUntil } from '../../faults/support.ts';
import { TestServer } from '../../harness/server.ts';

type LookedUp = (error: Error | null, found: dns.LookupAddress[]) => void;

const RUSH = 100;
/** It makes 63; some may still be on their way. */
const COPIES_MIN = 32;

/** How often the process has its most frequent socket open: a listening handle and its copies are one socket. */
function copiesOf(pid: number): number {
  const counts = new Map<string, number>();
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const link = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      if (link.startsWith('socket:')) counts.set(link, (counts.get(link) ?? 0) + 1);
    } catch {
      // It was closed meanwhile.
    }
  }
  return Math.max(0, ...counts.values());
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function healthOn(socket: Socket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1', 9, 12);
}

test.skipIf(!existsSync('/proc/self/fd'))(
  'a service that listens on copies of its handle serves on them, and stops like any other',
  { timeout: 60_000 },
  async () => {
    await using server = await TestServer.start();
    const { pid } = server;
    const port = Number(new URL(server.baseUrl).port);
    expect(copiesOf(pid)).toBe(1);
    const sockets = await Promise.all(Array.from({ length: RUSH }, () => open(port)));
    await waitUntil('the handle was copied', async () => copiesOf(pid) >= COPIES_MIN);
    sockets.push(...(await Promise.all(Array.from({ length: RUSH }, () => open(port)))));
    // Those that spoke are idle now, the others never said a word.
    for (const socket of sockets.slice(RUSH / 2)) expect(await healthOn(socket)).toBe('200');

    const closed = sockets.map((socket) => once(socket.resume(), 'close'));
    const stoppedAtMs = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - stoppedAtMs).toBeLessThan(15_000);
    await Promise.all(closed);
    const [error] = (await once(connect({ port, host: '127.0.0.1' }), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  },
);

test('a service that is told to listen at localhost has one listener, at the IPv4 address, and says a URL that works', async () => {
  // As on machines where the name has two addresses.
  const lookup = dns.lookup.bind(dns) as (host: string, options: dns.LookupOptions, done: LookedUp) => void;
  const both = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ];
  const asked = (host: string, options: dns.LookupOptions, done: LookedUp): void =>
    host === 'localhost' && options.all ? done(null, both) : lookup(host, options, done);
  vi.spyOn(dns, 'lookup').mockImplementation(asked as never);
  onTestFinished(() => void vi.restoreAllMocks());
  using folder = temporaryFolder();
  const service = await startService(
    readConfig({
      CUSTOS_DATA_DIR: folder.path,
      CUSTOS_LOG_LEVEL: 'silent',
      CUSTOS_KEYRING: 'inline',
      CUSTOS_HOST: 'localhost',
      CUSTOS_PORT: '0',
    }),
  );
  try {
    const { hostname, port } = new URL(service.baseUrl);
    expect(hostname).toBe('localhost');
    for (const base of [service.baseUrl, `http://127.0.0.1:${port}`])
      expect(await statusOf(base, '/healthz'), base).toBe(200);
    // A second listener would admit everything.
    const other = connect({ port: Number(port), host: '::1' });
    const outcome = await once(other, 'connect').then(
      () => 'connected',
      (error: NodeJS.ErrnoException) => error.code,
    );
    other.destroy();
    expect(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH']).toContain(outcome);
  } finally {
    await service.stop();
  }
});
