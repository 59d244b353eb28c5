import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { ServedApp } from '../app.ts';
import { addIssuerRoutes } from '../authn/oidc/own-issuer.ts';
import { invitationCalls } from '../domains/organizations/invitations/calls.ts';
import { proxyCalls, proxyPathOf } from '../domains/sign-up-proxy/calls.ts';
import { createSignUpProxy, type SignUpProxy } from '../domains/sign-up-proxy/sign-up-proxy.ts';
import { FEED_PATH } from '../engine/feed/open-feed.ts';
import { ApiError, notServed } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';
import { HARDWARE_QUERIES, UNSERVED_REASONS, WIRE_QUERIES, WIRE_SUBMITS } from '../reference/wire-operations.ts';
import { operations, pathOf } from '../registry.ts';
import { acceptInRushes } from './accept.ts';
import { addAdmission } from './admission.ts';
import { addConsole } from './console/console.ts';
import { addCors } from './cors.ts';
import { addDevInbox } from './dev-inbox.ts';
import { addDiscovery } from './discovery.ts';
import { errorResponse, sendError, toApiError } from './errors.ts';
import { addFeed } from './feed.ts';
import { InFlight } from './in-flight.ts';
import { addInvitations } from './invitations.ts';
import { operationServer } from './operations.ts';
import { isPrivilegedPeer } from './peer.ts';
import { addProxyRoutes } from './proxy.ts';
import { NO_SCHEMAS } from './schemas.ts';
import { isStarting } from './starting.ts';
import { addStatusRoutes } from './status.ts';
import { WELCOME_HEADERS, welcomePage } from './welcome.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are looked at for these. */
const TIMEOUT_CHECK_MS = 1000;
const KEEP_ALIVE_MS = 72_000;
/** A connection on which nothing moves for so long, not even an answer that nobody reads, is closed. */
const SILENT_MS = 120_000;

/** Every path of the wire protocol with its operation's name; those that nothing serves answer 501. */
const WIRE_PATHS: readonly (readonly [string, string])[] = [
  ...WIRE_QUERIES.map((name) => [`/public/v1/query/${name}`, name] as const),
  ...WIRE_SUBMITS.map((name) => [`/public/v1/submit/${name}`, name] as const),
];
const PROXY_PATHS: readonly string[] = proxyCalls.map(proxyPathOf);

/** The HTTP face of the service: bytes in, JSON out. It decides nothing. */
export function buildServer(app: ServedApp, proxy: SignUpProxy = createSignUpProxy(app)): FastifyInstance {
  const postPaths = [
    ...WIRE_PATHS.map(([path]) => path),
    ...operations.map(pathOf),
    FEED_PATH,
    ...invitationCalls.map(({ path }) => path),
    ...PROXY_PATHS,
  ];
  const server = openServer(app, postPaths, operationServer);
  addCors(server, ['/public/', '/v1/']);
  addStatusRoutes(server, app, isPrivilegedPeer);
  addDiscovery(server, app);
  addIssuerRoutes(server, app.ownIssuer);
  addDevInbox(server, app);
  addUnservedRoutes(server, app);
  addFeed(server, app);
  addInvitations(server, app);
  addProxyRoutes(server, app, proxy);
  addConsole(server, app);
  server.get('/', (_request, reply) =>
    reply.headers(WELCOME_HEADERS).type('text/html; charset=utf-8').send(welcomePage(app.config)),
  );
  return server;
}

/** The sign-up proxy alone, for a port of its own. */
export function buildProxyServer(app: ServedApp, proxy: SignUpProxy): FastifyInstance {
  const server = openServer(app, PROXY_PATHS);
  addCors(server, ['/v1/']);
  addProxyRoutes(server, app, proxy);
  return server;
}

/** A server without routes: bounds, bytes, errors and how it ends. */
function openServer(
  app: ServedApp,
  postPaths: readonly string[],
  serveOperations: typeof operationServer = () => () => false,
): FastifyInstance {
  const known: ReadonlySet<string> = new Set(postPaths);
  const inFlight = new InFlight();
  const server = fastify({
    ...NO_SCHEMAS,
    logger: false,
    bodyLimit: LIMITS.defaultBodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: SILENT_MS,
    forceCloseConnections: 'idle',
    // A request on an open connection during a stop gets our own error body, see below.
    return503OnClosing: false,
    http: {
      maxHeaderSize: LIMITS.headerBytes,
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    clientErrorHandler: answerClientError(app.config.vendorNames, inFlight),
    frameworkErrors: (error, _request, reply) => {
      sendError(app, reply, new ApiError('REQUEST_INVALID', error.message));
    },
  });
  // Everything that is signed, hashed or stored is these bytes; nothing may touch them on the way.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.setErrorHandler((error, request, reply) =>
    sendError(app, reply, toApiError(app, 'http', error, request.routeOptions.bodyLimit)),
  );
  server.setNotFoundHandler((request, reply) => sendError(app, reply, notFound(request, known)));
  const isClosing = refuseWhileClosing(server, app);
  // An expectation that nobody knows may be ignored (RFC 9110, 10.1.1); Node's own 417 has no body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  acceptInRushes(server);
  addAdmission(server, app, known, serveOperations(app, { inFlight, isStarting: () => isStarting(server), isClosing }));
  server.addHook('onRequest', (request, reply, done) => {
    inFlight.add(request.raw);
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      sendError(app, reply, new ApiError('REQUEST_INVALID', 'the request has no Host header'));
    } else done();
  });
  server.addHook('onResponse', (request, _reply, done) => {
    inFlight.delete(request.raw);
    done();
  });
  return server;
}

/** During a stop what is in flight finishes; what still arrives on an open connection is told to come again. */
function refuseWhileClosing(server: FastifyInstance, app: ServedApp): () => boolean {
  let closing = false;
  server.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  server.addHook('onRequest', (_request, reply, done) => {
    if (!closing) return done();
    reply.header('connection', 'close');
    sendError(app, reply, new ApiError('UNAVAILABLE', 'the service is stopping', { retryAfterSeconds: 1 }));
  });
  return () => closing;
}

/** Paths of the wire protocol that nothing serves say why. */
function addUnservedRoutes(server: FastifyInstance, app: ServedApp): void {
  const served = new Set(operations.map(pathOf));
  for (const [path, name] of WIRE_PATHS) {
    if (served.has(path)) continue;
    const error = HARDWARE_QUERIES.has(name)
      ? new ApiError('RESOURCE_NOT_FOUND', 'this deployment is not attested: it has no boot proofs')
      : notServed(name, UNSERVED_REASONS.get(name));
    server.post(path, (_request, reply) => sendError(app, reply, error));
  }
}

function notFound(request: FastifyRequest, known: ReadonlySet<string>): ApiError {
  const { url, method } = request;
  const path = url.split('?')[0] ?? url;
  if (method !== 'POST' && known.has(path)) {
    return new ApiError('METHOD_NOT_ALLOWED', `${path} takes POST`);
  }
  return new ApiError('PATH_NOT_FOUND', 'there is nothing at this path; see /openapi.json');
}

/** Requests that Node's parser refuses never reach a route; they get the same kind of body. */
function answerClientError(vendorNames: boolean, inFlight: InFlight) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return;
    if (inFlight.endAfterAnswers(socket)) return;
    const [answer, reason] = clientErrorOf(error.code);
    socket.end(errorResponse(answer, reason, vendorNames));
  };
}

function clientErrorOf(code: string | undefined): [ApiError, string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        new ApiError('HEADER_TOO_LARGE', `the headers are larger than ${LIMITS.headerBytes} bytes`),
        'Request Header Fields Too Large',
      ];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [new ApiError('REQUEST_INVALID', 'the request took too long to arrive'), 'Bad Request'];
    default:
      return [new ApiError('REQUEST_INVALID', 'the request is not valid HTTP'), 'Bad Request'];
  }
}
