import type { Server, Socket } from 'node:net';

/** What Node keeps a server or a connection by. It is not documented, and may be missing. */
export function handleOf(owner: Server | Socket): object | undefined {
  const handle: unknown = '_handle' in owner ? owner._handle : undefined;
  return typeof handle === 'object' && handle !== null ? handle : undefined;
}
