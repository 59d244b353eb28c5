import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { OutboundError } from './outbound-error.ts';

export interface Bounds {
  /** Of the answer's body. A longer answer is cut off and refused, unless a partial one is accepted. */
  readonly maxBytes: number;
  /** Whether the status counts although the body is too long, is cut short or comes to no end in time. */
  readonly acceptPartial?: boolean;
}

export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Of the connection that brought the answer. */
  readonly remoteAddress: string;
}

/** `stale-connection`: the peer closed an idle connection just as it was used again, and has not said a word. */
export type Outcome = Exchange | OutboundError | 'stale-connection';

export interface Listener {
  /** Throws an OutboundError for a peer that may not be talked to. Nothing has been said to it then. */
  checkPeer?(remoteAddress: string): void;
  /** A new connection is being made. */
  opening?(): void;
  /** It is there, with its handshake. */
  opened?(): void;
  ended(outcome: Outcome): void;
}

/** Ends what is under way for this reason. Afterwards it does nothing. */
export type BreakOff = (reason: OutboundError) => void;

type Stage = 'connect' | 'handshake' | 'http';

const INFORMATION_MAX = 16;

/**
 * Sends the request and follows it to its end, whatever the status of the answer: redirects are answers like any other.
 */
export function converse(
  request: ClientRequest,
  body: Uint8Array | string | undefined,
  { maxBytes, acceptPartial = false }: Bounds,
  listener: Listener,
): BreakOff {
  // The errors of a handshake have no family name of their own.
  let stage: Stage = 'connect';
  let socket: Socket | undefined;
  let readBefore = 0;
  let remoteAddress = '';
  let informations = 0;
  let answer: IncomingMessage | undefined;
  let size = 0;
  const chunks: Buffer[] = [];
  let isOver = false;

  function end(outcome: Outcome): void {
    isOver = true;
    listener.ended(outcome);
  }

  function endWithAnswer({ statusCode = 0, headers }: IncomingMessage): void {
    const [first] = chunks;
    const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
    end({ status: statusCode, headers, body: bytes.subarray(0, maxBytes), remoteAddress });
  }

  function fail(reason: OutboundError): void {
    if (isOver) return;
    if (answer !== undefined && acceptPartial) endWithAnswer(answer);
    else end(reason);
    request.destroy();
  }

  function checkPeer(connection: Socket): void {
    // Read while there is a peer: an answer may come together with the end.
    remoteAddress = connection.remoteAddress ?? '';
    try {
      if (remoteAddress === '') throw new OutboundError('network', 'the connection was closed');
      listener.checkPeer?.(remoteAddress);
    } catch (error) {
      fail(error as OutboundError);
    }
  }

  function followConnection(connection: Socket): void {
    listener.opening?.();
    const opened = (): void => {
      stage = 'http';
      if (!isOver) listener.opened?.();
    };
    const isSecure = 'encrypted' in connection;
    connection.once('connect', () => {
      stage = 'handshake';
      checkPeer(connection);
      if (!isSecure) opened();
    });
    if (isSecure) connection.once('secureConnect', opened);
  }

  function isStale({ code }: NodeJS.ErrnoException): boolean {
    return request.reusedSocket && socket?.bytesRead === readBefore && (code === 'ECONNRESET' || code === 'EPIPE');
  }

  request.on('socket', (connection) => {
    if (isOver) return;
    socket = connection;
    if (connection.connecting) return followConnection(connection);
    stage = 'http';
    readBefore = connection.bytesRead;
    checkPeer(connection);
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (isOver) return;
    if (isStale(error)) end('stale-connection');
    else fail(toOutboundError(error, stage));
  });
  request.on('information', () => {
    informations += 1;
    if (informations > INFORMATION_MAX) fail(new OutboundError('too-large', 'there are too many interim answers'));
  });
  request.on('response', (response) => {
    answer = response;
    response.on('data', (chunk: Buffer) => {
      if (isOver) return;
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) fail(new OutboundError('too-large', `the answer is longer than ${maxBytes} bytes`));
    });
    response.on('error', (error) => fail(new OutboundError('network', 'the answer was cut short', error)));
    response.on('end', () => {
      if (!isOver) endWithAnswer(response);
    });
  });
  if (acceptPartial) {
    request.on('upgrade', (response, connection) => {
      connection.destroy();
      if (!isOver) endWithAnswer(response);
    });
  }
  // An answer that switches protocols ends without any other event.
  request.on('close', () => {
    if (!isOver) fail(new OutboundError('network', 'the connection was closed without an answer'));
  });
  request.end(body);
  return fail;
}

function toOutboundError(error: NodeJS.ErrnoException, stage: Stage): OutboundError {
  if (error.code === 'HPE_HEADER_OVERFLOW') return new OutboundError('too-large', 'the headers are too long', error);
  if (stage === 'handshake') return new OutboundError('tls', 'there is no trusted TLS connection', error);
  return new OutboundError('network', 'there is no answer from the host', error);
}
