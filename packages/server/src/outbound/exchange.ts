import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { OutboundError } from './outbound-error.ts';

export interface OutboundOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** For everything together: name, connection, handshake, answer. */
  readonly timeoutMs: number;
  /** Of the answer's body; a longer answer is cut off and refused. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Of the connection that brought the answer. */
  readonly remoteAddress: string | undefined;
}

/** How to connect. `agent: false` means a new connection that ends with the answer. */
export type Dial = Pick<RequestOptions, 'agent' | 'lookup' | 'ca'>;

/** One request and its whole answer, whatever its status: redirects are answers like any other. */
export async function exchange(url: URL, options: OutboundOptions, dial: Dial, signal: AbortSignal): Promise<Exchange> {
  const answer = await attempt(url, options, dial, signal);
  if (answer !== 'stale-connection') return answer;
  // The peer closed an idle connection just as it was used again. A reading request may simply be asked on a new one.
  const retried = options.method === 'POST' ? answer : await attempt(url, options, { ...dial, agent: false }, signal);
  if (retried === 'stale-connection') throw new OutboundError('network', 'the connection was closed');
  return retried;
}

function attempt(
  url: URL,
  options: OutboundOptions,
  dial: Dial,
  signal: AbortSignal,
): Promise<Exchange | 'stale-connection'> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = open(url, options, dial);
    const stage = followStage(request);
    const fail = (error: OutboundError): void => {
      reject(error);
      request.destroy();
    };
    signal.addEventListener('abort', () => fail(signal.reason as OutboundError), { once: true });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve('stale-connection');
      fail(toOutboundError(error, stage()));
    });
    request.once('response', (response) => collect(response, options.maxBytes, resolve, fail));
    // An answer that switches protocols ends without any other event.
    request.once('close', () => reject(new OutboundError('network', 'the connection was closed without an answer')));
    request.end(options.body);
  });
}

function open(url: URL, { method = 'GET', headers = {} }: OutboundOptions, dial: Dial): ClientRequest {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return send({
    ...urlToHttpOptions(url),
    ...dial,
    method,
    headers: { 'accept-encoding': 'identity', ...headers, host: url.host },
    rejectUnauthorized: true,
  });
}

function collect(
  response: IncomingMessage,
  maxBytes: number,
  resolve: (answer: Exchange) => void,
  fail: (error: OutboundError) => void,
): void {
  const { remoteAddress } = response.socket;
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) fail(new OutboundError('too-large', `the answer is longer than ${maxBytes} bytes`));
    else chunks.push(chunk);
  });
  response.on('error', (error) => fail(new OutboundError('network', 'the answer was cut short', error)));
  response.once('end', () => {
    resolve({
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: Buffer.concat(chunks),
      remoteAddress,
    });
  });
}

type Stage = 'connect' | 'handshake' | 'http';

/** How far a connection has come, because the errors of a handshake have no family name of their own. */
function followStage(request: ClientRequest): () => Stage {
  let stage: Stage = 'connect';
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) {
      stage = 'http';
      return;
    }
    const secure = 'encrypted' in socket;
    socket.once('connect', () => {
      stage = secure ? 'handshake' : 'http';
      // Read while there is a peer: the address is remembered, and an answer may come together with the end.
      void socket.remoteAddress;
    });
    socket.once('secureConnect', () => {
      stage = 'http';
    });
  });
  return () => stage;
}

function toOutboundError(error: NodeJS.ErrnoException, stage: Stage): OutboundError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new OutboundError('too-large', 'the headers are too long', error);
  if (stage === 'handshake') return new OutboundError('tls', 'there is no trusted TLS connection', error);
  return new OutboundError('network', 'there is no answer from the host', error);
}
