// Thousands of clients in a process of their own: writers who obey Retry-After, or senders of bodies that never end.
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../child.ts';
import { prepareRequests, type Workload } from '../load/requests.ts';
import { numberIn, Wire } from './wire.ts';

export type Order =
  | { readonly kind: 'prepare'; readonly workload: Workload; readonly requests: number }
  | { readonly kind: 'connect'; readonly port: number; readonly clients: number }
  | { readonly kind: 'write'; readonly seconds: number }
  | {
      readonly kind: 'stall';
      readonly port: number;
      readonly clients: number;
      readonly seconds: number;
      readonly sentBytes: number;
    };

export interface Report {
  /** Milliseconds of each answer of 200. */
  readonly accepted: readonly number[];
  /** Answers by status; 0 is a connection that ended without one. */
  readonly statuses: Readonly<Record<number, number>>;
}

const DECLARED_BYTES = 2 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 0x20);

/** How long after the end an answer is still waited for. */
const PATIENCE_SECONDS = 5;

/** How many connect at once: a rush of connections is measured for itself, by those who come new. */
const CONNECTING = 64;

let wires: Wire[] = [];
let pool: Buffer[] = [];
let next = 0;
// They stand for other machines, and must not take the processor from the service.
setPriority(constants.priority.PRIORITY_LOW);

answerParent(async (order: Order): Promise<Report> => {
  const accepted: number[] = [];
  const statuses: Record<number, number> = {};
  const count = (status: number): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  if (order.kind === 'prepare') {
    pool = prepareRequests(order.workload, order.requests);
    next = 0;
    return { accepted, statuses };
  }
  if (order.kind === 'connect') {
    wires = Array.from({ length: order.clients }, () => new Wire(order.port));
    for (let first = 0; first < wires.length; first += CONNECTING) {
      await Promise.all(wires.slice(first, first + CONNECTING).map((wire) => wire.connected()));
    }
    return { accepted, statuses };
  }
  const endsAt = performance.now() + order.seconds * 1000;
  const isOver = (): boolean => performance.now() >= endsAt;
  const giveUp = (): void => {
    for (const wire of wires) wire.close();
  };
  const timer = setTimeout(giveUp, (order.seconds + PATIENCE_SECONDS) * 1000);
  await Promise.all(
    order.kind === 'write'
      ? wires.map((wire) => write(wire, isOver, accepted, count))
      : Array.from({ length: order.clients }, () => stall(order, endsAt, count)),
  );
  clearTimeout(timer);
  return { accepted, statuses };
});

/** Sends each request until it is accepted: the same bytes again, when the service says so. */
async function write(
  wire: Wire,
  isOver: () => boolean,
  accepted: number[],
  count: (status: number) => void,
): Promise<void> {
  while (!isOver()) {
    const request = pool[next];
    next += 1;
    if (request === undefined) break;
    for (;;) {
      const { status, retryAfterSeconds, milliseconds } = await wire.send(request);
      count(status);
      if (status === 200) accepted.push(milliseconds);
      if (status === 200 || isOver()) break;
      await sleep(Math.max(1, retryAfterSeconds) * 1000);
      if (isOver()) break;
    }
  }
  wire.close();
}

/** Sends most of a body and then nothing; when it is cut, it comes again when it is told to, or two seconds later. */
async function stall(
  { port, sentBytes }: Extract<Order, { kind: 'stall' }>,
  endsAt: number,
  count: (status: number) => void,
): Promise<void> {
  const head = `POST /public/v1/submit/sign_raw_payload HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${DECLARED_BYTES}\r\n\r\n`;
  while (performance.now() < endsAt) {
    const { status, retryAfterSeconds } = await new Promise<{ status: number; retryAfterSeconds: number }>(
      (resolve) => {
        const socket = connect({ port, host: '127.0.0.1' });
        const timer = setTimeout(() => socket.destroy(), endsAt - performance.now());
        let status = 0;
        let retryAfterSeconds = 0;
        let sent = 0;
        const sendMore = (): void => {
          while (sent < sentBytes && status === 0) {
            sent += PIECE.length;
            if (!socket.write(PIECE)) return;
          }
        };
        socket.on('error', () => {});
        socket.on('drain', sendMore);
        socket.on('data', (chunk) => {
          const text = chunk.toString('latin1');
          status = Number(text.slice(9, 12));
          retryAfterSeconds = numberIn(text, /retry-after: (\d+)/i);
          socket.destroy();
        });
        socket.once('connect', () => {
          socket.write(head);
          sendMore();
        });
        socket.once('close', () => {
          clearTimeout(timer);
          resolve({ status, retryAfterSeconds });
        });
      },
    );
    count(status);
    await sleep((retryAfterSeconds || 2) * 1000);
  }
}
