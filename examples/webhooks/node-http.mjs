// A receiver of webhooks with nothing but Node: `node examples/webhooks/node-http.mjs`. PORT and JWKS_URL say where it
// listens and where the keys of the service are.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createWebhookVerifier } from '@custos/sdk';
import { createOnce } from './once.mjs';

const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Nothing is known of such a delivery yet: 503 says that the trouble is ours. */
const RETRIED = new Set(['key_set_unavailable', 'verification_unavailable']);

export async function start({ jwksUrl, port = 0, bodyBytesMax = BODY_BYTES_MAX, onEvent = print }) {
  const { verify } = createWebhookVerifier({ jwksUrl });
  // A delivery may come twice.
  const handleOnce = createOnce();

  async function receive(request) {
    if (request.url !== '/webhooks') return [404, { reason: 'not_found' }];
    if (request.method !== 'POST') return [405, { reason: 'method_not_allowed' }];
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) return [413, { reason: 'too_large' }];
    const result = await verify({ headers: request.headers, body });
    if (!result.ok) return [RETRIED.has(result.reason) ? 503 : 401, { reason: result.reason }];
    return await handleOnce(result.eventId, () => onEvent(result, JSON.parse(body.toString())));
  }

  const server = createServer(async (request, response) => {
    try {
      const [status, answer] = await receive(request);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    } catch (error) {
      console.error(error);
      response.writeHead(500, { 'Content-Type': 'application/json' }).end('{"reason":"internal"}');
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/webhooks`, close: () => server[Symbol.asyncDispose]() };
}

/** The bytes as they came, which is what is signed; undefined if there are too many. */
async function readBody(request, bytesMax) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    // What is too much is read to its end, so that the sender hears of it, but not kept.
    if (length <= bytesMax) parts.push(part);
    else parts.length = 0;
  }
  return length <= bytesMax ? Buffer.concat(parts) : undefined;
}

function print({ eventType, eventId }, event) {
  console.log(`${eventType} ${eventId}: ${event.type ?? ''} ${event.status ?? ''}`.trimEnd());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { PORT = '3001', JWKS_URL = 'http://127.0.0.1:8080/public/v1/discovery/webhooks/jwks' } = process.env;
  const { url } = await start({ jwksUrl: JWKS_URL, port: Number(PORT) });
  console.log(`Receiving at ${url}`);
}
