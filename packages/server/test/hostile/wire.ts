import { connect } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whatever was answered.
  readonly body: any;
}

/** Writes exact bytes to a new connection, closes its own side, and reads every answer until the server closes. */
export async function exchange(baseUrl: string, ...pieces: readonly (string | Uint8Array)[]): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(baseUrl);
  const received = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('end', () => socket.destroy());
    socket.once('close', () => resolve(Buffer.concat(chunks)));
    // A server that has answered need not read the rest; what it answered is what counts.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
  return parseAnswers(received);
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
    const length = Number(headers['content-length'] ?? '0');
    const bytes = rest.subarray(end + 4, end + 4 + length);
    rest = rest.subarray(end + 4 + length);
    if (status === '100') continue;
    const text = bytes.toString('utf8');
    answers.push({ status: Number(status), headers, text, body: parse(text) });
  }
  return answers;
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
