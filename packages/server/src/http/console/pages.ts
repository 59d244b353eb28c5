import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../lib/errors.ts';
import { isKnown } from '../etag.ts';
import { formFor, loadConsole } from './assets.ts';
import { ASSET_HEADERS, pageHeaders } from './headers.ts';

export const CONSOLE_PATH = '/console';
const NONCE_BYTES = 16;

/** The console's page for each of its paths, and what the page is made of (protocol/console 1). */
export function addConsolePages(server: FastifyInstance): void {
  const files = loadConsole();
  if (files === undefined) {
    refuseConsole(server, 'the console was not built; build it with `npm run build`');
    return;
  }
  const sendPage = (_request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply.headers(pageHeaders(nonce)).type('text/html; charset=utf-8').send(files.page(nonce));
  };
  // What comes behind is the page's own business: it shows what is at that path, or that nothing is.
  server.get(CONSOLE_PATH, sendPage);
  server.get(`${CONSOLE_PATH}/*`, sendPage);
  server.get(`${CONSOLE_PATH}/assets/*`, (request, reply) => {
    const asset = files.asset((request.params as { readonly '*': string })['*']);
    if (asset === undefined) throw new ApiError('PATH_NOT_FOUND', 'the console has no such file; load the page again');
    const { encoding, content, etag } = formFor(asset, request.headers['accept-encoding']);
    reply.headers(ASSET_HEADERS).header('etag', etag);
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type(asset.type).send(content);
  });
}

/** Says why there is no console. */
export function refuseConsole(server: FastifyInstance, reason: string): void {
  const refuse = (): never => {
    throw new ApiError('PATH_NOT_FOUND', reason);
  };
  server.all(CONSOLE_PATH, refuse);
  server.all(`${CONSOLE_PATH}/*`, refuse);
}
