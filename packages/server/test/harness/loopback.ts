import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The port of a server on loopback that ends with the test. */
export async function listen(server: NetServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    if ('closeAllConnections' in server) (server as Server).closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

export const serve = (handler: RequestListener): Promise<number> => listen(createServer(handler));

/** A server that need not speak HTTP: `behave` is called with each connection once something was said on it. */
export async function serveBytes(behave: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => behave(socket));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return await listen(server);
}
