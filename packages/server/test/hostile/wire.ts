import { connect } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whatever was answered.
  readonly body: any;
}

type Piece = string | Uint8Array;

/**
 * Writes exact bytes to a new connection and reads every answer until the server closes. Its own side it closes after
 * as many answers as it expects: a server may drop the request of a client that has gone.
 */
export const exchange = (baseUrl: string, ...pieces: readonly Piece[]): Promise<RawAnswer[]> =>
  converse(baseUrl, 1, pieces);

export const exchangeSeveral = (baseUrl: string, count: number, ...pieces: readonly Piece[]): Promise<RawAnswer[]> =>
  converse(baseUrl, count, pieces);

/** The same, but its own side is closed behind the last byte. */
export const exchangeAndEnd = (baseUrl: string, ...pieces: readonly Piece[]): Promise<RawAnswer[]> =>
  converse(baseUrl, 0, pieces);

async function converse(baseUrl: string, expected: number, pieces: readonly Piece[]): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(baseUrl);
  return await new Promise<RawAnswer[]>((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (expected > 0 && !socket.writableEnded && countAnswers(received) >= expected) socket.end();
    });
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      try {
        resolve(parseAnswers(received));
      } catch (error) {
        reject(error);
      }
    });
    // A server that has answered need not read the rest; what it answered is what counts.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    for (const piece of pieces) socket.write(piece);
    if (expected === 0) socket.end();
  });
}

function countAnswers(received: Buffer): number {
  try {
    return parseAnswers(received).length;
  } catch {
    return 0;
  }
}

/** Sends the start of a request and then drops the connection. */
export async function abandon(baseUrl: string, start: string | Uint8Array): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once('error', reject);
    socket.once('close', () => resolve());
    socket.write(start, () => socket.destroy());
  });
}

/** Splits what was received into answers; throws if it is anything else. */
function parseAnswers(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
    if (end < 0 || status === undefined) throw new Error(`not an answer: ${rest.subarray(0, 200).toString('latin1')}`);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const { bytes, used } = bodyOf(headers, rest.subarray(end + 4));
    rest = rest.subarray(end + 4 + used);
    if (status === '100') continue;
    const text = bytes.toString('utf8');
    answers.push({ status: Number(status), headers, text, body: parse(text) });
  }
  return answers;
}

function bodyOf(headers: Readonly<Record<string, string>>, rest: Buffer): { bytes: Buffer; used: number } {
  if (headers['transfer-encoding'] === 'chunked') {
    const end = rest.indexOf('0\r\n\r\n');
    if (end < 0) throw new Error('chunks without an end');
    return { bytes: rest.subarray(0, end), used: end + 5 };
  }
  const length = Number(headers['content-length'] ?? '0');
  if (rest.length < length) throw new Error(`half an answer: ${rest.toString('latin1')}`);
  return { bytes: rest.subarray(0, length), used: length };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Does the work of every item, a few at a time. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>, lanes = 12): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
