import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { handleOf } from './handle.ts';

/** Connections that the system keeps for us until we take them; with Node's 511 a burst waits for retransmissions. */
export const LISTEN_BACKLOG = 4096;
/** So many connections in a second are a rush. */
const RUSH = 64;
const RUSH_MS = 1000;
const COPIES = 31;
/** Sends the handle that it is sent back as often as it is told, which makes as many copies of it here. */
const ECHO = `process.on('message', (copies, handle) => {
  const send = () => (copies-- > 0 ? process.send('copy', handle, { keepOpen: true }, send) : process.disconnect());
  send();
});`;

/**
 * Node takes one connection from each listening handle in each turn of its event loop. A busy service makes few turns, so
 * in a rush new connections would wait for many seconds although it could answer them. Once there is a rush, the service
 * listens on copies of its handle too. Only another process can make copies, so a small one is started for a moment.
 */
export function acceptInRushes(server: FastifyInstance): void {
  const copies: Server[] = [];
  let isClosing = false;
  let windowAtMs = 0;
  let inWindow = 0;
  const notice = (): void => {
    const nowMs = performance.now();
    if (nowMs - windowAtMs > RUSH_MS) {
      windowAtMs = nowMs;
      inWindow = 0;
    }
    inWindow += 1;
    if (inWindow < RUSH || isClosing) return;
    server.server.removeListener('connection', notice);
    copyHandle(server.server, (handle) => {
      // As node:http opens its own.
      const copy = createServer({ allowHalfOpen: true, noDelay: true });
      copy.on('connection', (socket) => server.server.emit('connection', socket));
      copy.on('error', () => {});
      copy.listen(handle, LISTEN_BACKLOG);
      if (isClosing) copy.close();
      else copies.push(copy);
    });
  };
  // Of several workers none accepts for itself.
  if (cluster.isPrimary) server.server.on('connection', notice);
  server.addHook('preClose', async () => {
    isClosing = true;
    // Like the server itself, a copy is closed when its last connection is.
    await Promise.all(copies.map((copy) => new Promise((resolve) => copy.close(resolve))));
  });
}

function copyHandle(server: Server, use: (handle: object) => void): void {
  const handle = handleOf(server);
  if (handle === undefined) return;
  const child = spawn(process.execPath, ['-e', ECHO], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: {} });
  // Without copies the service is slower to answer new connections, and nothing else.
  child.on('error', () => {});
  child.on('message', (_message, copy: unknown) => {
    if (typeof copy === 'object' && copy !== null) use(copy);
  });
  child.unref();
  child.send(COPIES, handle as never, { keepOpen: true }, () => {});
}
