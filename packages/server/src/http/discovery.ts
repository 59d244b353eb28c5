import type { FastifyInstance } from 'fastify';
import type { App } from '../pipeline/app.ts';

/** Every public key that clients must trust, in the spelling they compare with (decision 36). No authentication. */
export function addDiscovery(server: FastifyInstance, app: App): void {
  const keys = app.serviceKeys.map(({ role, publicKey, encoding, keyId }) => ({ role, publicKey, encoding, keyId }));
  server.get('/public/v1/discovery/keys', (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send({ keys }),
  );
}
