import type { FastifyInstance } from 'fastify';

const ALLOWED_HEADERS =
  'Content-Type, Accept, X-Stamp, X-Stamp-WebAuthn, X-Stamp-Attested, X-Session, X-Client-Version, X-Auth-Proxy-Config-Id, X-Captcha-Token';

/** Browsers call the API directly and without cookies, so any origin may (AUTH 1); nothing else is opened (decision 30). */
export function addCors(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (isOpen(request.url)) reply.header('access-control-allow-origin', '*');
    done();
  });
  for (const path of ['/public/*', '/v1/*']) {
    server.options(path, (_request, reply) =>
      reply
        .code(204)
        .header('access-control-allow-methods', 'GET, POST, OPTIONS')
        .header('access-control-allow-headers', ALLOWED_HEADERS)
        .header('access-control-max-age', '86400')
        .send(),
    );
  }
}

const isOpen = (url: string): boolean => url.startsWith('/public/') || url.startsWith('/v1/');
