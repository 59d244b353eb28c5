// What webhooks are sent to, in a process of its own. It stands for other machines, so it takes what the service leaves
// of this one. Plain sockets that read no more of a request than what it is counted by: a server library would take as
// much processor time as the sending.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../child.ts';
import { nowUs } from './clock.ts';

/** What tells arrivals apart: a delivery is an event at one receiver. What was sent twice arrives once. */
export type ArrivalKey = 'event' | 'delivery' | 'activity';

export type ReceiversQuestion =
  | { readonly ask: 'open'; readonly alive: number }
  | { readonly ask: 'forget'; readonly by: ArrivalKey }
  /** Answered when there are so many. */
  | { readonly ask: 'arrived'; readonly count: number; readonly patienceSeconds: number }
  | { readonly ask: 'times' }
  | { readonly ask: 'sample' };

/** Where something listens that answers, where nothing does, and where something listens that never answers. */
export interface Addresses {
  readonly alive: readonly string[];
  readonly closed: string;
  readonly silent: string;
}

export interface Arrivals {
  readonly count: number;
  readonly firstUs: number;
  readonly lastUs: number;
}

/** The longest request since others were forgotten, as it came. */
export interface Sample {
  readonly head: string;
  readonly body: string;
}

export type ArrivalTimes = ReadonlyMap<string, number>;
export type ReceiversAnswer = Addresses | Arrivals | ArrivalTimes | Sample;

const HEAD_END = Buffer.from('\r\n\r\n');
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok';
const EVENT_ID = /x-service-event-id: (\S+)/i;
const ACTIVITY_ID = /"id":"([^"]+)"/;
const LOOK_EVERY_MS = 5;

const times = new Map<string, number>();
let by: ArrivalKey = 'event';
let arrivals: Arrivals = { count: 0, firstUs: 0, lastUs: 0 };
let sample: Sample = { head: '', body: '' };

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

answerParent(async (question: ReceiversQuestion): Promise<ReceiversAnswer> => {
  switch (question.ask) {
    case 'open':
      return await open(question.alive);
    case 'forget':
      times.clear();
      by = question.by;
      sample = { head: '', body: '' };
      arrivals = { count: 0, firstUs: 0, lastUs: 0 };
      return arrivals;
    case 'arrived':
      return await arrived(question.count, question.patienceSeconds);
    case 'times':
      return times;
    case 'sample':
      return sample;
  }
});

async function arrived(count: number, patienceSeconds: number): Promise<Arrivals> {
  const endsAt = performance.now() + patienceSeconds * 1000;
  while (arrivals.count < count) {
    if (performance.now() > endsAt) throw new Error(`${arrivals.count} of ${count} arrived in ${patienceSeconds} s`);
    await sleep(LOOK_EVERY_MS);
  }
  return arrivals;
}

async function open(alive: number): Promise<Addresses> {
  const silent = await listen(() => {});
  const closing = createServer();
  const closed = await urlOf(closing);
  closing.close();
  return { alive: await Promise.all(Array.from({ length: alive }, () => listen(receive))), closed, silent };
}

const listen = (serve: (socket: Socket) => void): Promise<string> =>
  urlOf(
    createServer({ noDelay: true }, (socket) => {
      // Whoever sends is killed or gives up now and then.
      socket.on('error', () => {});
      serve(socket);
    }),
  );

async function urlOf(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
}

function receive(socket: Socket): void {
  let pending: Buffer | undefined;
  socket.on('data', (chunk) => {
    const received = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
    const end = received.indexOf(HEAD_END);
    const head = end < 0 ? '' : received.toString('latin1', 0, end);
    const bodyStart = end + HEAD_END.length;
    if (end < 0 || received.length < bodyStart + contentLength(head)) {
      pending = received;
      return;
    }
    pending = undefined;
    note(socket.localPort, head, received.subarray(bodyStart));
    socket.write(ANSWER);
  });
}

function note(port: number | undefined, head: string, body: Buffer): void {
  const atUs = nowUs();
  const [, found] =
    by === 'activity' ? (ACTIVITY_ID.exec(body.toString('latin1', 0, 200)) ?? []) : (EVENT_ID.exec(head) ?? []);
  if (found === undefined) return;
  const id = by === 'delivery' ? `${port} ${found}` : found;
  if (times.has(id)) return;
  times.set(id, atUs);
  arrivals = { count: times.size, firstUs: times.size === 1 ? atUs : arrivals.firstUs, lastUs: atUs };
  if (body.length > sample.body.length) sample = { head, body: body.toString('latin1') };
}

function contentLength(head: string): number {
  const found = /content-length: (\d+)/i.exec(head);
  if (found === null) throw new Error('a request without content-length');
  return Number(found[1]);
}
