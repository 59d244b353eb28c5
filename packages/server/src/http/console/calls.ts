import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServedApp } from '../../app.ts';
import { consoleContext, forgetCredentials, newLink, signInByLink } from '../../console/first-run.ts';
import type { RawRequest } from '../../engine/request.ts';
import { ApiError, type ErrorCode } from '../../lib/errors.ts';
import { openPassage } from '../admission.ts';
import { clientAddress } from '../client-address.ts';
import { sendError, toApiError } from '../errors.ts';
import { isLocalCaller, isOwnPage, isPage } from '../peer.ts';
import { rawBody } from '../raw-body.ts';
import { GUARDED } from './headers.ts';
import { CONSOLE_PATH } from './pages.ts';

const BODY_BYTES = 8 * 1024;

interface ConsoleCall {
  readonly name: string;
  /** Whether the console's own page calls it, or no page at all. */
  readonly caller: 'page' | 'program';
  readonly answer: (app: ServedApp, request: RawRequest, port: number) => Promise<unknown>;
}

const CALLS: readonly ConsoleCall[] = [
  { name: 'link', caller: 'page', answer: signInByLink },
  { name: 'new-link', caller: 'program', answer: newLink },
  { name: 'forget-credentials-file', caller: 'page', answer: forgetCredentials },
];

/** Calls beside the API that the console and `custos console` make, on this machine alone (protocol/console 2). */
export function addConsoleCalls(server: FastifyInstance, app: ServedApp): void {
  server.get(`${CONSOLE_PATH}/context.json`, async (request, reply) => {
    const context = await consoleContext(app, isLocalCaller(request));
    return await reply.headers({ ...GUARDED, 'cache-control': 'no-store' }).send(context);
  });
  for (const call of CALLS) {
    const operation = `console_${call.name.replaceAll('-', '_')}`;
    server.post(`${CONSOLE_PATH}/${call.name}`, { bodyLimit: BODY_BYTES }, async (request, reply) => {
      const startedAt = performance.now();
      let code: ErrorCode | 'OK' = 'OK';
      reply.headers({ ...GUARDED, 'cache-control': 'no-store' });
      const passage = openPassage(app, request.raw, reply.raw);
      try {
        requireCaller(request, call.caller);
        const body = rawBody(request);
        await passage.enter(body.length);
        const { remoteAddress, localPort } = request.socket;
        const address = clientAddress(remoteAddress, request.headers, app.config.trustedProxies);
        const raw: RawRequest = { body, headers: request.headers, clientAddress: address, passage };
        const answer = await call.answer(app, raw, localPort ?? 0);
        reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer));
      } catch (thrown) {
        const error = toApiError(app, operation, thrown);
        code = error.code;
        sendError(app, reply, error);
      } finally {
        passage.end();
      }
      app.observe.request(operation, code, performance.now() - startedAt);
      return reply;
    });
  }
}

/** A page of another site, and one that had its own name point here, must not get any further. */
function requireCaller(request: FastifyRequest, caller: ConsoleCall['caller']): void {
  if (!isLocalCaller(request)) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'this works only on the machine that runs the service, at localhost');
  }
  if (caller === 'page' && !isOwnPage(request)) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'only the page of the console makes this call');
  }
  if (caller === 'program' && isPage(request)) {
    throw new ApiError('REQUEST_NOT_AUTHORIZED', 'no page makes this call; `npx custos console` does');
  }
}
