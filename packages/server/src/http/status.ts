import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServedApp } from '../app.ts';
import { CHECKS } from '../engine/readiness.ts';
import { toRfc3339 } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { VERSION } from '../lib/version.ts';
import { openApi } from '../reference/openapi.ts';

/** Whether a peer may see what runs inside. */
export type Privileged = (request: FastifyRequest) => boolean;

const VIOLATIONS_SHOWN = 5;

/** A row that somebody else wrote is refused by itself: the service stays ready for everybody else. */
function integrityOf({ storage: { integrity } }: ServedApp) {
  const { isRequired, violationCount, violations } = integrity;
  const last = violations.slice(-VIOLATIONS_SHOWN).reverse();
  return { required: isRequired, violations: violationCount, ...(last.length > 0 && { last }) };
}

/** The service stays ready behind the fence: it answers queries. */
function fenceOf({ storage: { fence } }: ServedApp) {
  const { isUp, isWhole, restoredAtMs, doubt } = fence.shown;
  return {
    up: isUp,
    ...(isUp && { organizations: isWhole ? 'all' : 'some' }),
    ...(restoredAtMs !== undefined && { restoredAt: toRfc3339(restoredAtMs) }),
    ...(doubt !== undefined && { doubt }),
  };
}

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
    return { status, checks, ...(!isReady && { reasons }), integrity: integrityOf(app), fence: fenceOf(app) };
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
