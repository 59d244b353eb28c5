import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ServedApp } from '../app.ts';
import type { Operation } from '../engine/define.ts';
import { dispatch } from '../engine/dispatch.ts';
import { ApiError, type ErrorCode, toErrorBody } from '../lib/errors.ts';
import { jsonInPieces, PrintedAnswer } from '../lib/json-in-pieces.ts';
import { operations, pathOf } from '../registry.ts';
import { type Arrival, beginRequest, openPassage, type ServeDirectly } from './admission.ts';
import { clientAddress } from './client-address.ts';
import { READABLE_BY_ALL } from './cors.ts';
import { bodyTooLarge, toApiError } from './errors.ts';
import type { InFlight } from './in-flight.ts';
import { requireJson } from './raw-body.ts';
import { serviceIsStarting } from './starting.ts';

const SHORT_BODY_BYTES = 4096;
const JSON_FOR_ALL = [...Object.entries(READABLE_BY_ALL).flat(), 'content-type', 'application/json; charset=utf-8'];

interface Server {
  readonly inFlight: InFlight;
  readonly isStarting: () => boolean;
  readonly isClosing: () => boolean;
}

/**
 * Operations are served without the framework: the way through it would take as long as all the rest of a short request.
 * Everything else about HTTP (routes, other methods, the console) is the framework's.
 */
export function operationServer(app: ServedApp, { inFlight, isStarting, isClosing }: Server): ServeDirectly {
  const byPath = new Map<string, Operation>(operations.map((operation) => [pathOf(operation), operation]));
  return (request, response, arrival) => {
    if (request.method !== 'POST') return false;
    const { url = '' } = request;
    const operation = byPath.get(url) ?? byPath.get(pathIn(url));
    if (operation === undefined) return false;
    const cut = (error: ApiError) => sendError(app, response, error, { closes: true });
    if (!beginRequest(app, request, response, arrival, cut)) return true;
    // A client may leave before it has its answer; that is no fault of the service.
    response.on('error', () => {});
    inFlight.add(request);
    const pieces: Buffer[] = [];
    response.once('close', () => {
      inFlight.delete(request);
      pieces.length = 0;
    });
    const refusal = isClosing()
      ? new ApiError('UNAVAILABLE', 'the service is stopping', { retryAfterSeconds: 1 })
      : isStarting()
        ? serviceIsStarting()
        : refusalOf(request, operation);
    if (refusal !== undefined) sendError(app, response, refusal, { closes: isClosing() });
    else readBody(app, operation, { request, response, arrival }, pieces);
    return true;
  };
}

/** The path of a target in any of its forms: with a query, of another spelling, or absolute as proxies send it. */
function pathIn(url: string): string {
  const isAbsolute = /^https?:\/\//i.test(url);
  if (isAbsolute && !URL.canParse(url)) return url;
  const path = (isAbsolute ? url.replace(/^[^/]+\/\/[^/?#]*/, '') : url).replace(/[?#].*$/s, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function refusalOf({ httpVersion, headers }: IncomingMessage, { bodyLimit }: Operation): ApiError | undefined {
  if (httpVersion === '1.1' && headers.host === undefined)
    return new ApiError('REQUEST_INVALID', 'the request has no Host header');
  return Number(headers['content-length']) > bodyLimit ? bodyTooLarge(bodyLimit) : undefined;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly arrival: Arrival;
}

/** Everything that is signed, hashed or stored is these bytes; nothing may touch them on the way. `pieces` holds them as they come. */
function readBody(app: ServedApp, operation: Operation, exchange: Exchange, pieces: Buffer[]): void {
  const { request, response } = exchange;
  let bytes = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= operation.bodyLimit) {
      pieces.push(piece);
      return;
    }
    pieces.length = 0;
    request.removeListener('data', take);
    request.removeListener('end', end);
    // The rest is read and forgotten: to close on a client that still sends would lose the answer.
    request.resume();
    sendError(app, response, bodyTooLarge(operation.bodyLimit));
  };
  const end = (): void => {
    const [only] = pieces;
    const body = only && pieces.length === 1 ? only : Buffer.concat(pieces);
    // The request lives as long as its answer takes, and would hold the bytes a second time.
    pieces.length = 0;
    answer(app, operation, exchange, body).catch((error: unknown) => {
      sendError(app, response, toApiError(app, operation.name, error));
    });
  };
  request.on('data', take);
  request.once('end', end);
  // A client that leaves in the middle of its body has nobody to answer to.
  request.once('error', () => {});
}

async function answer(app: ServedApp, operation: Operation, exchange: Exchange, body: Buffer): Promise<void> {
  const { request, response, arrival } = exchange;
  // It was cut while it arrived, and is answered.
  if (response.headersSent) return;
  const startedAt = performance.now();
  let code: ErrorCode | 'OK' = 'OK';
  const passage = openPassage(app, request, response, arrival);
  app.load.begin();
  try {
    requireJson(request.headers);
    const turn = passage.enter(body.length);
    if (turn !== undefined) await turn;
    const answered = await dispatch(app, operation, {
      body,
      headers: request.headers,
      clientAddress: clientAddress(request.socket.remoteAddress, request.headers, app.config.trustedProxies),
      passage,
    });
    // A new activity is shown with its body and one vote.
    const isShort = operation.kind === 'activity' && body.length < SHORT_BODY_BYTES;
    const pieces = isShort ? [JSON.stringify(answered)] : piecesOf(answered);
    sendJson(response, 200, pieces instanceof Promise ? await pieces : pieces);
  } catch (thrown) {
    const error = toApiError(app, operation.name, thrown);
    code = error.code;
    sendError(app, response, error);
  } finally {
    passage.end();
    app.load.end();
  }
  app.observe.request(operation.name, code, performance.now() - startedAt);
}

const piecesOf = (answered: unknown): readonly string[] | Promise<readonly string[]> =>
  answered instanceof PrintedAnswer ? answered.pieces : jsonInPieces(answered);

function sendError(
  app: ServedApp,
  response: ServerResponse,
  error: ApiError,
  { closes = false }: { readonly closes?: boolean } = {},
): void {
  if (response.headersSent) return;
  if (error.retryAfterSeconds !== undefined) {
    response.setHeader('retry-after', String(error.retryAfterSeconds));
    if (response.socket !== null) app.admission.connections.comeAgain(response.socket, error.retryAfterSeconds);
  }
  if (closes) response.setHeader('connection', 'close');
  sendJson(response, error.httpStatus, [JSON.stringify(toErrorBody(error, app.config.vendorNames))]);
}

function sendJson(response: ServerResponse, status: number, pieces: readonly string[]): void {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  // A list of names and values, which Node sends as it is.
  response.writeHead(status, [...JSON_FOR_ALL, 'content-length', length]);
  if (pieces.length === 1) response.end(pieces[0]);
  else Readable.from(pieces).pipe(response);
}
