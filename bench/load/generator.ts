// The load generator, in a process of its own. It writes finished requests to plain sockets and reads no more of an
// answer than its status and length: an HTTP client library would cost as much processor time as the server.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { answerParent } from '../child.ts';
import { prepareRequests, type Workload } from './requests.ts';

export interface Window {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** How many requests to prepare; a submit window ends early when they are used up. */
  readonly prepared: number;
  readonly workload: Workload;
}

export interface Counted {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The last answer's body. */
  readonly sample: string;
}

/** The first digit of a status that is no refusal. */
const OK = 0x32;
const BUSY = '503';
const RETRY_MS = 50;
const HEAD_END = Buffer.from('\r\n\r\n');

answerParent(async ({ port, connections, seconds, prepared, workload }: Window): Promise<Counted> => {
  const pool = prepareRequests(workload, prepared);
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const latencies: number[] = [];
  let next = 0;
  let sample: Buffer = Buffer.alloc(0);
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let endedAt = startedAt;

  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          let sentAt = 0;
          let sent = 0;
          let pending: Buffer | undefined;
          const sendNext = (): void => {
            if (next >= pool.length && workload.kind === 'query') next = 0;
            const request = pool[next];
            sentAt = performance.now();
            if (request === undefined || sentAt >= endsAt) {
              resolve();
              return;
            }
            sent = next;
            next += 1;
            socket.write(request);
          };
          socket.on('error', reject);
          socket.on('close', () => reject(new Error('the server closed a connection')));
          socket.on('data', (chunk) => {
            const received = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
            const head = received.indexOf(HEAD_END);
            if (head < 0 || received.length < head + 4 + contentLength(received, head)) {
              pending = received;
              return;
            }
            pending = undefined;
            // The same bytes again, as a client would; meanwhile its time goes on.
            if (received.toString('latin1', 9, 12) === BUSY) {
              setTimeout(() => socket.write(pool[sent] as Buffer), RETRY_MS);
              return;
            }
            endedAt = performance.now();
            latencies.push(endedAt - sentAt);
            sample = received.subarray(head + 4);
            if (received[9] === OK) sendNext();
            else reject(new Error(`refused: ${received.toString('utf8')}`));
          });
          sendNext();
        }),
    ),
  );
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  latencies.sort((a, b) => a - b);
  const elapsed = (endedAt - startedAt) / 1000;
  return {
    requests: latencies.length,
    seconds: elapsed,
    p50Us: quantile(latencies, 0.5) * 1000,
    p99Us: quantile(latencies, 0.99) * 1000,
    sample: sample.toString('utf8'),
  };
});

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

function contentLength(answer: Buffer, head: number): number {
  const found = /content-length: (\d+)/i.exec(answer.toString('latin1', 0, head));
  if (found === null) throw new Error('an answer without content-length');
  return Number(found[1]);
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
