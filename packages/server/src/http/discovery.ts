import type { FastifyInstance } from 'fastify';
import type { ServedApp } from '../app.ts';
import { KEY_SET_SECONDS } from '../domains/webhooks/keys.ts';
import { sha256Hex } from '../lib/encoding.ts';
import { isKnown } from './etag.ts';

/** The issuer's key is not among them: readers of its tokens find it in its own key set. */
const PUBLISHED: ReadonlySet<string> = new Set([
  'bundle-signer',
  'session-signer',
  'otp',
  'oauth-secret',
  'on-ramp-secret',
]);

/**
 * Every public key that clients must trust, in the spelling they compare with (protocol/bundles 5.2); of each role the one
 * in use first. No authentication.
 */
export function addDiscovery(server: FastifyInstance, app: ServedApp): void {
  server.get('/public/v1/discovery/keys', (_request, reply) => {
    const keys = app.serviceKeys
      .filter(({ role }) => PUBLISHED.has(role))
      .map(({ role, publicKey, encoding, keyId }) => ({ role, publicKey, encoding, keyId }));
    return reply.header('cache-control', 'public, max-age=300').send({ keys });
  });
  addWebhookKeys(server, app);
}

/** Keys that receivers of webhooks need (protocol/http 1.5). Fastify answers HEAD by the same route. */
function addWebhookKeys(server: FastifyInstance, { webhooks }: ServedApp): void {
  server.get('/public/v1/discovery/webhooks/jwks', (request, reply) => {
    const body = JSON.stringify(webhooks.keySet());
    const etag = `"${sha256Hex(body).slice(0, 32)}"`;
    reply.header('cache-control', `public, max-age=${KEY_SET_SECONDS}`).header('etag', etag);
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });
}
