// A receiver of webhooks with Fastify: `node examples/webhooks/fastify.mjs`. PORT and JWKS_URL say where it listens and
// where the keys of the service are.
import { fileURLToPath } from 'node:url';
import { createWebhookVerifier } from '@custos/sdk';
import { fastify } from 'fastify';
import { createOnce } from './once.mjs';

const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Nothing is known of such a delivery yet: 503 says that the trouble is ours. */
const RETRIED = new Set(['key_set_unavailable', 'verification_unavailable']);
const REASONS = { 413: 'too_large', 500: 'internal' };

export async function start({ jwksUrl, port = 0, bodyBytesMax = BODY_BYTES_MAX, onEvent = print }) {
  const { verify } = createWebhookVerifier({ jwksUrl });
  // A delivery may come twice.
  const handleOnce = createOnce();
  const app = fastify({ bodyLimit: bodyBytesMax });

  // The bytes as they came are what is signed, so that nothing may parse them before.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.post('/webhooks', async (request, reply) => {
    const result = await verify({ headers: request.headers, body: request.body });
    if (!result.ok) return reply.code(RETRIED.has(result.reason) ? 503 : 401).send({ reason: result.reason });
    const handle = () => onEvent(result, JSON.parse(request.body.toString()));
    const [status, answer] = await handleOnce(result.eventId, handle);
    return reply.code(status).send(answer);
  });

  app.setErrorHandler((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) console.error(error);
    return reply.code(statusCode).send({ reason: REASONS[statusCode] ?? 'refused' });
  });

  const address = await app.listen({ port, host: '127.0.0.1' });
  return { url: `${address}/webhooks`, close: () => app.close() };
}

function print({ eventType, eventId }, event) {
  console.log(`${eventType} ${eventId}: ${event.type ?? ''} ${event.status ?? ''}`.trimEnd());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { PORT = '3001', JWKS_URL = 'http://127.0.0.1:8080/public/v1/discovery/webhooks/jwks' } = process.env;
  const { url } = await start({ jwksUrl: JWKS_URL, port: Number(PORT) });
  console.log(`Receiving at ${url}`);
}
