import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Body } from '../admission/bodies.ts';
import type { Passage } from '../admission/passage.ts';
import type { Refused } from '../admission/refused.ts';
import { clientOf } from '../domains/sign-up-proxy/request-limit.ts';
import type { App } from '../engine/app.ts';
import { ApiError, toErrorBody } from '../lib/errors.ts';
import { clientAddress } from './client-address.ts';
import { READABLE_BY_ALL } from './cors.ts';
import { errorResponse, sendError } from './errors.ts';
import { Lingering } from './lingering.ts';
import { Pipelining } from './pipelining.ts';
import { ReadByTurns } from './read-by-turns.ts';

/** Serves a request without the framework, or leaves it to the framework and says so by false. */
export type ServeDirectly = (request: IncomingMessage, response: ServerResponse, arrival: Arrival) => boolean;

/** What admission knows of a request from its head on. */
export interface Arrival {
  readonly client: string;
  /** How long it waited to be read, in milliseconds. */
  readonly heldMs: number;
  body?: Body;
}

/** Requests that bring no body, or none that is read. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Larger bodies are read piece by piece, and not at all where nobody needs them. */
const LARGE_BYTES = 64 * 1024;

/** Of the requests that the framework serves. */
const arrivals = new WeakMap<IncomingMessage, Arrival>();
/** Bodies whose bytes count, by connection. */
const counted = new WeakMap<Socket, Set<Body>>();
const refused = new WeakSet<Socket>();

/** Counts connections and bodies as they come in, and refuses those for which there is no room. */
export function addAdmission(
  server: FastifyInstance,
  app: App,
  known: ReadonlySet<string>,
  serveDirectly: ServeDirectly,
): void {
  const { connections } = app.admission;
  refuseHopeless(server, app, known, serveDirectly);
  server.server.on('connection', (socket: Socket) => {
    // Node does not say of each answer that its connection is gone: not of those that stand behind others.
    socket.once('close', () => {
      for (const body of counted.get(socket) ?? []) body.release();
    });
    try {
      connections.add(socket, clientOf(socket.remoteAddress) ?? '');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.add(socket);
      socket.write(errorResponse(error, 'Service Unavailable', app.config.vendorNames));
      socket.destroySoon();
    }
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (noteRequest(app, request.raw, reply.raw, arrivalOf(app, request.raw))) done();
  });
  server.addHook('preParsing', (request, reply, payload, done) => {
    if (!WITHOUT_BODY.has(request.method)) {
      countBody(app, request.raw, arrivalOf(app, request.raw), (error) => {
        if (!reply.sent) sendError(app, reply.header('connection', 'close'), error);
      });
    }
    done(null, payload);
  });
}

/** Counts a request and its body, for those who are not served by the framework; false for one that is not served. */
export function beginRequest(
  app: App,
  request: IncomingMessage,
  response: ServerResponse,
  arrival: Arrival,
  cut: (error: ApiError) => void,
): boolean {
  if (!noteRequest(app, request, response, arrival)) return false;
  countBody(app, request, arrival, cut);
  return true;
}

function noteRequest(
  { admission: { connections } }: App,
  { socket }: IncomingMessage,
  response: ServerResponse,
  arrival: Arrival,
): boolean {
  // It was told that it is not served, so it must not be.
  if (refused.has(socket)) {
    socket.destroy();
    return false;
  }
  connections.note(socket, 1);
  response.once('close', () => {
    connections.note(socket, -1);
    const { body } = arrival;
    if (body === undefined) return;
    body.release();
    counted.get(socket)?.delete(body);
  });
  return true;
}

/**
 * Refuses requests that would be refused later anyway as soon as their heads are here, before the framework sees them: in
 * a flood there are thousands, and they must cost less than those who are served.
 */
function refuseHopeless(
  server: FastifyInstance,
  app: App,
  known: ReadonlySet<string>,
  serveDirectly: ServeDirectly,
): void {
  const { admission, config } = app;
  const { connections, gates, bodies, nowMs } = admission;
  const reads = new ReadByTurns(connections, nowMs);
  const lingering = new Lingering();
  // Of a proxy's connections each may be anybody's.
  const ownConnection = (socket: Socket) => (config.trustedProxies.length === 0 ? connections.of(socket) : undefined);
  const pipelining = new Pipelining((socket) => {
    const connection = ownConnection(socket);
    socket.destroy();
    if (connection !== undefined) connections.shun(connection.client);
  });
  const [serve] = server.server.listeners('request');
  server.server.removeAllListeners('request');

  const arrive = (request: IncomingMessage): Arrival => {
    const connection = ownConnection(request.socket);
    const sinceMs = connection === undefined ? nowMs() : reads.arrived(connection);
    return { client: clientKeyOf(app, request), heldMs: nowMs() - sinceMs };
  };
  const refusalFor = (request: IncomingMessage, { client, heldMs }: Arrival): Refused | undefined =>
    gates.clients.refusalFor([client], nowMs() - heldMs) ?? bodies.refusalFor(client, declaredBytes(request) || 0);

  const handle = (request: IncomingMessage, response: ServerResponse, isExpecting: boolean): void => {
    const { socket, method = '', url = '' } = request;
    if (!pipelining.accepts(socket)) return;
    const isCounted = !WITHOUT_BODY.has(method) && !refused.has(socket) && server.server.listening;
    const arrival = isCounted ? arrive(request) : arrivalOf(app, request);
    const refusal = isCounted ? refusalFor(request, arrival) : undefined;
    if (refusal === undefined) {
      if (isExpecting) response.writeContinue();
      if (serveDirectly(request, response, arrival)) return;
      arrivals.set(request, arrival);
      serve?.call(server.server, request, response);
      return;
    }
    connections.touch(socket);
    connections.comeAgain(socket, refusal.retryAfterSeconds ?? 0);
    const closes = isExpecting || !isShort(request);
    const text = JSON.stringify(toErrorBody(refusal, config.vendorNames));
    response.writeHead(refusal.httpStatus, {
      'retry-after': String(refusal.retryAfterSeconds),
      ...(known.has(url) && READABLE_BY_ALL),
      ...(closes && { connection: 'close' }),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    });
    // A client that asks first does not send its body then. What comes behind a body on its way could not be answered.
    if (closes && !isExpecting && lingering.afterAnswer(request, response)) refused.add(socket);
    response.end(text);
  };
  server.server.on('request', (request: IncomingMessage, response: ServerResponse) => handle(request, response, false));
  // Left alone, Node asks for the body before anybody could refuse it.
  server.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    handle(request, response, true),
  );
}

/** Not a number for a body that comes in chunks. */
const declaredBytes = ({ headers }: Pick<IncomingMessage, 'headers'>): number => Number(headers['content-length']);

/** A connection can be used again only after the rest of the body was read, which costs more than a new one. */
const isShort = (request: Pick<IncomingMessage, 'headers'>): boolean => declaredBytes(request) <= LARGE_BYTES;

function countBody({ admission }: App, raw: IncomingMessage, arrival: Arrival, cut: (error: ApiError) => void): void {
  const connection = admission.connections.of(raw.socket);
  const body = admission.bodies.open(arrival.client, (error) => {
    connection?.bodies.delete(body);
    // Nobody needs the rest of it.
    raw.removeAllListeners('data');
    cut(error);
  });
  arrival.body = body;
  const others = counted.get(raw.socket);
  if (others === undefined) counted.set(raw.socket, new Set([body]));
  else others.add(body);
  connection?.bodies.add(body);
  let receivedBytes = 0;
  raw.on('data', (piece: Buffer) => {
    body.received(piece.length);
    receivedBytes += piece.length;
    if (receivedBytes < LARGE_BYTES || raw.isPaused()) return;
    // Left alone, Node reads two megabytes of each connection before it looks at another one.
    raw.pause();
    setImmediate(() => raw.resume());
  });
  raw.once('end', () => {
    connection?.bodies.delete(body);
    body.complete();
  });
}

/** The way in of a request whose body is there. Whoever opens it ends it. */
export function openPassage(
  app: App,
  request: IncomingMessage,
  response: ServerResponse,
  { client, body, heldMs }: Arrival = arrivalOf(app, request),
): Passage {
  // The time that a client takes to send its body is its own.
  return app.admission.passage(client, response, body, app.admission.nowMs() - heldMs);
}

function arrivalOf(app: App, request: IncomingMessage): Arrival {
  const known = arrivals.get(request);
  if (known !== undefined) return known;
  const arrival = { client: clientKeyOf(app, request), heldMs: 0 };
  arrivals.set(request, arrival);
  return arrival;
}

function clientKeyOf({ admission, config }: App, { socket, headers }: IncomingMessage): string {
  const connection = admission.connections.of(socket);
  if (config.trustedProxies.length === 0 && connection !== undefined) return connection.client;
  return clientOf(clientAddress(socket.remoteAddress, headers, config.trustedProxies)) ?? '';
}
