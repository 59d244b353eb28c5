import type { FastifyInstance } from 'fastify';
import type { App } from '../pipeline/app.ts';

/** The issuer's key is not among them: readers of its tokens find it in its own key set. */
const PUBLISHED: ReadonlySet<string> = new Set([
  'bundle-signer',
  'session-signer',
  'otp',
  'oauth-secret',
  'on-ramp-secret',
]);

/** Every public key that clients must trust, in the spelling they compare with (decision 36). No authentication. */
export function addDiscovery(server: FastifyInstance, app: App): void {
  const keys = app.serviceKeys
    .filter(({ role }) => PUBLISHED.has(role))
    .map(({ role, publicKey, encoding, keyId }) => ({ role, publicKey, encoding, keyId }));
  server.get('/public/v1/discovery/keys', (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send({ keys }),
  );
}
