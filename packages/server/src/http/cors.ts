import type { FastifyInstance } from 'fastify';

const ALLOWED_HEADERS =
  'Content-Type, Accept, X-Stamp, X-Stamp-WebAuthn, X-Stamp-Attested, X-Session, X-Client-Version, X-Auth-Proxy-Config-Id, X-Captcha-Token';

/** A page may read the answer, and when to come again. */
export const READABLE_BY_ALL = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
} as const;

/**
 * Browsers call the API directly and without cookies, so any origin may; nothing else is opened (protocol/http 1.3).
 * What a browser asks first names no configuration of the sign-up proxy, so that only the call itself can be judged.
 */
export function addCors(server: FastifyInstance, openPrefixes: readonly string[]): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (openPrefixes.some((prefix) => request.url.startsWith(prefix))) reply.headers(READABLE_BY_ALL);
    done();
  });
  for (const prefix of openPrefixes) {
    server.options(`${prefix}*`, (_request, reply) =>
      reply
        .code(204)
        .header('access-control-allow-methods', 'GET, POST, OPTIONS')
        .header('access-control-allow-headers', ALLOWED_HEADERS)
        .header('access-control-max-age', '86400')
        .send(),
    );
  }
}
