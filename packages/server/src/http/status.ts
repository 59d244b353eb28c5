import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServedApp } from '../app.ts';
import { CHECKS } from '../engine/readiness.ts';
import { ApiError } from '../lib/errors.ts';
import { VERSION } from '../lib/version.ts';
import { openApi } from '../reference/openapi.ts';

/** Whether a peer may see what runs inside. */
export type Privileged = (request: FastifyRequest) => boolean;

/** /healthz, /readyz, /metrics and /openapi.json. */
export function addStatusRoutes(server: FastifyInstance, app: ServedApp, privileged: Privileged): void {
  let document: string | undefined;
  server.get('/healthz', (_request, reply) => reply.send({ status: 'alive', version: VERSION }));
  server.get('/readyz', async (request, reply) => {
    const reasons = await app.readiness.check();
    app.observe.health.readiness(reasons);
    const isReady = CHECKS.every((check) => reasons[check] === undefined);
    if (!isReady) reply.code(503).header('retry-after', '1');
    const status = isReady ? 'ready' : 'unavailable';
    if (!privileged(request)) return { status };
    const checks = Object.fromEntries(CHECKS.map((check) => [check, reasons[check] === undefined]));
    return { status, checks, ...(!isReady && { reasons }) };
  });
  server.get('/metrics', async (request, reply) => {
    if (!privileged(request)) throw new ApiError('PATH_NOT_FOUND', 'there is nothing at this path; see /openapi.json');
    return await reply.type(app.observe.metrics.contentType).send(await app.observe.metrics.metrics());
  });
  server.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApi());
    return reply.type('application/json; charset=utf-8').send(document);
  });
}
