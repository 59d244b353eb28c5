// A receiver of webhooks with Express: `node examples/webhooks/express.mjs`. PORT and JWKS_URL say where it listens and
// where the keys of the service are.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createWebhookVerifier } from '@custos/sdk';
import express from 'express';
import { createOnce } from './once.mjs';

const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Nothing is known of such a delivery yet: 503 says that the trouble is ours. */
const RETRIED = new Set(['key_set_unavailable', 'verification_unavailable']);
const REASONS = { 413: 'too_large', 500: 'internal' };

export async function start({ jwksUrl, port = 0, bodyBytesMax = BODY_BYTES_MAX, onEvent = print }) {
  const { verify } = createWebhookVerifier({ jwksUrl });
  // A delivery may come twice.
  const handleOnce = createOnce();
  const app = express().disable('x-powered-by');

  // The bytes as they came are what is signed: no `express.json()` before this.
  const raw = express.raw({ type: () => true, limit: bodyBytesMax, inflate: false });
  app.post('/webhooks', raw, async (request, response) => {
    const result = await verify({ headers: request.headers, body: request.body });
    if (!result.ok) {
      response.status(RETRIED.has(result.reason) ? 503 : 401).json({ reason: result.reason });
      return;
    }
    const handle = () => onEvent(result, JSON.parse(request.body.toString()));
    const [status, answer] = await handleOnce(result.eventId, handle);
    response.status(status).json(answer);
  });

  // Express knows it by its four parameters.
  app.use((error, _request, response, _next) => {
    const { status = 500 } = error;
    if (status >= 500) console.error(error);
    response.status(status).json({ reason: REASONS[status] ?? 'refused' });
  });

  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/webhooks`, close: () => server[Symbol.asyncDispose]() };
}

function print({ eventType, eventId }, event) {
  console.log(`${eventType} ${eventId}: ${event.type ?? ''} ${event.status ?? ''}`.trimEnd());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { PORT = '3001', JWKS_URL = 'http://127.0.0.1:8080/public/v1/discovery/webhooks/jwks' } = process.env;
  const { url } = await start({ jwksUrl: JWKS_URL, port: Number(PORT) });
  console.log(`Receiving at ${url}`);
}
