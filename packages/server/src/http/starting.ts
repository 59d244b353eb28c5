import type { FastifyInstance } from 'fastify';
import type { App } from '../engine/app.ts';
import { ApiError } from '../lib/errors.ts';
import { sendError } from './errors.ts';

const starting = new WeakSet<FastifyInstance>();

/** What is served past the framework asks for itself. */
export const isStarting = (server: FastifyInstance): boolean => starting.has(server);

/**
 * Refuses everything but /healthz until the returned function is called. At its first start a service has to listen
 * before it knows its own address, which the credentials file names, and until that exists it has nothing to serve.
 */
export function refuseWhileStarting(server: FastifyInstance, app: App): () => void {
  starting.add(server);
  server.addHook('onRequest', (request, reply, done) => {
    if (!isStarting(server) || request.url === '/healthz') return done();
    sendError(app, reply, serviceIsStarting());
  });
  return () => {
    starting.delete(server);
  };
}

export const serviceIsStarting = (): ApiError =>
  new ApiError('UNAVAILABLE', 'the service is starting', { retryAfterSeconds: 1 });
