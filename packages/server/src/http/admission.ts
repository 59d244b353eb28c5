import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Body } from '../admission/bodies.ts';
import type { Passage } from '../admission/passage.ts';
import { ApiError } from '../lib/errors.ts';
import type { App } from '../pipeline/app.ts';
import { clientOf } from '../proxy/request-limit.ts';
import { clientAddress } from './client-address.ts';
import { errorResponse, sendError } from './errors.ts';

/** Requests that bring no body, or none that is read. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Larger bodies are read piece by piece, and not at all where nobody needs them. */
const LARGE_BYTES = 64 * 1024;

const bodies = new WeakMap<IncomingMessage, Body>();
const refused = new WeakSet<Socket>();

/** Counts connections and bodies as they come in, and refuses those for which there is no room. */
export function addAdmission(server: FastifyInstance, app: App): void {
  const { connections } = app.admission;
  server.server.on('connection', (socket: Socket) => {
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
    const { socket } = request.raw;
    // It was told that it is not served, so it must not be.
    if (refused.has(socket)) return void socket.destroy();
    connections.note(socket, 1);
    reply.raw.once('close', () => {
      connections.note(socket, -1);
      bodies.get(request.raw)?.release();
    });
    done();
  });
  server.addHook('preParsing', (request, reply, payload, done) => {
    if (!WITHOUT_BODY.has(request.method)) {
      try {
        countBody(app, request, reply);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // A connection can be used again only after the rest of the body was read, which costs more than a new one.
        if (!(declaredBytes(request) <= LARGE_BYTES)) reply.header('connection', 'close');
        sendError(app, reply, error);
        return;
      }
    }
    done(null, payload);
  });
}

/** Not a number for a body that comes in chunks. */
const declaredBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length']);

function countBody(app: App, request: FastifyRequest, reply: FastifyReply): void {
  const { admission } = app;
  const { raw } = request;
  const client = clientKeyOf(app, request);
  admission.gates.clients.requireHope([client]);
  const connection = admission.connections.of(raw.socket);
  const body = admission.bodies.open(client, declaredBytes(request) || 0, (error) => {
    connection?.bodies.delete(body);
    // Nobody needs the rest of it.
    raw.removeAllListeners('data');
    if (!reply.sent) sendError(app, reply.header('connection', 'close'), error);
  });
  bodies.set(raw, body);
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
export const openPassage = (app: App, request: FastifyRequest, reply: FastifyReply): Passage =>
  app.admission.passage(clientKeyOf(app, request), reply.raw, bodies.get(request.raw));

function clientKeyOf({ admission, config }: App, { raw, headers }: FastifyRequest): string {
  const { socket } = raw;
  const connection = admission.connections.of(socket);
  if (config.trustedProxies.length === 0 && connection !== undefined) return connection.client;
  return clientOf(clientAddress(socket.remoteAddress, headers, config.trustedProxies)) ?? '';
}
