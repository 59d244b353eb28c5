import type { FastifyInstance, FastifyReply } from 'fastify';
import { proxyCalls, proxyPathOf } from '../domains/sign-up-proxy/calls.ts';
import type { ProxyAnswer, SignUpProxy } from '../domains/sign-up-proxy/sign-up-proxy.ts';
import type { App } from '../engine/app.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { openPassage } from './admission.ts';
import { clientAddress } from './client-address.ts';
import { sendError, toApiError } from './errors.ts';
import { rawBody } from './raw-body.ts';

/** Routes of the sign-up proxy (protocol/sign-up-proxy 3). Its configuration says whose pages may read an answer. */
export function addProxyRoutes(server: FastifyInstance, app: App, proxy: SignUpProxy): void {
  for (const call of proxyCalls) {
    const operation = `proxy_${call.name}`;
    server.post(proxyPathOf(call), { bodyLimit: call.bodyLimit }, async (request, reply) => {
      const startedAt = performance.now();
      let code: ErrorCode | 'OK' = 'OK';
      const passage = openPassage(app, request.raw, reply.raw);
      const { readableBy, outcome } = await proxy
        .answer(call, {
          body: rawBody(request),
          headers: request.headers,
          clientAddress: clientAddress(request.socket.remoteAddress, request.headers, app.config.trustedProxies),
          passage,
        })
        .finally(() => passage.end());
      allowReading(reply, readableBy);
      if ('reply' in outcome) {
        reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(outcome.reply));
      } else {
        const error = toApiError(app, operation, outcome.error);
        code = error.code;
        sendError(app, reply, error);
      }
      app.observe.request(operation, code, performance.now() - startedAt);
      return reply;
    });
  }
}

/** The answer to one origin must not be kept for another. */
function allowReading(reply: FastifyReply, readableBy: ProxyAnswer['readableBy']): void {
  if (readableBy === '*') return;
  reply.header('vary', 'Origin');
  if (readableBy === undefined) reply.removeHeader('access-control-allow-origin');
  else reply.header('access-control-allow-origin', readableBy);
}
