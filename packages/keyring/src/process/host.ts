import { Worker } from 'node:worker_threads';
import { KeyringError } from '../errors.ts';
import type { RingState } from '../keyring.ts';
import {
  checkRequest,
  type Method,
  type Notice,
  pack,
  type Refusal,
  type Reply,
  ROUTES,
  refusalOf,
  requestIdOf,
  type Settings,
} from './protocol.ts';
import type { Report, Task } from './worker.ts';

// The entry of the keyring process. This thread only hands calls to the threads that hold keys, and answers back.

/** Above what a client lets wait, so that only a hostile one meets it. */
const WAITING_MAX = 20_000;

interface Answer {
  readonly body?: Uint8Array;
  readonly refusal?: Refusal;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, (answer: Answer) => void>;
}

const settings = JSON.parse(process.argv[2] ?? '') as Settings;
const threads: Thread[] = [];
let lastTicket = 0;
let waitingCount = 0;
let ring: RingState | undefined;

// Node's own messages carry handles, which are never sent here; its listener would throw at one without.
process.removeAllListeners('internalMessage');
process.on('disconnect', () => process.exit(0));
// The service ends this process when it has finished; a signal to the whole group must not be faster.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('uncaughtException', end);
process.on('unhandledRejection', end);
process.on('message', (message: unknown) => {
  const id = requestIdOf(message);
  if (id !== undefined) void answer(message).then((reply) => send({ id, ...reply }));
});

for (let number = 0; number < settings.threads; number += 1) threads.push(startThread());
await openAll();

/** One after the other, because a passphrase is stretched in 128 MiB. The first one may create the ring. */
async function openAll(): Promise<void> {
  for (const [index, { worker }] of threads.entries()) {
    const task: Task = { type: 'open', settings: { ...settings, create: settings.create && index === 0 } };
    worker.postMessage(task);
    const report = await new Promise<Report>((resolve) => worker.once('message', resolve));
    if (report.type === 'failed') {
      send({ type: 'failed', refusal: report.refusal });
      process.disconnect();
      return;
    }
    if (report.type === 'opened') ring = report.ring;
    worker.on('message', (done: Report) => finish(index, done));
  }
  send({ type: 'ready', ring: ring as RingState });
}

function startThread(): Thread {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { stdin: false });
  worker.on('error', end);
  worker.on('exit', () => process.exit(1));
  return { worker, waiting: new Map() };
}

async function answer(message: unknown): Promise<Answer> {
  try {
    const { method, body } = checkRequest(message);
    if (ring === undefined || waitingCount >= WAITING_MAX) {
      throw new KeyringError('UNAVAILABLE', 'the keyring process is starting, or has too much to do');
    }
    switch (ROUTES[method]) {
      case 'any':
        return await call(idlest(), method, body);
      case 'first':
        return await call(0, method, body);
      case 'all':
        return await callAll(method, body);
      case 'ring': {
        const changed = await call(0, method, body);
        if (changed.refusal === undefined) await callAll('refreshRing', pack([]));
        return changed;
      }
    }
  } catch (error) {
    return { refusal: refusalOf(error) };
  }
}

/** The thread with the fewest calls; of equal ones the first, whose caches are the warmest. */
function idlest(): number {
  let best = 0;
  for (const [index, { waiting }] of threads.entries()) {
    if (waiting.size < (threads[best] as Thread).waiting.size) best = index;
  }
  return best;
}

function call(index: number, method: Method, body: Uint8Array): Promise<Answer> {
  const { worker, waiting } = threads[index] as Thread;
  lastTicket += 1;
  const ticket = lastTicket;
  // A copy: the bytes may be a part of a larger buffer with other calls in it.
  const copy = new Uint8Array(body);
  const task: Task = { type: 'call', ticket, method, body: copy };
  worker.postMessage(task, [copy.buffer]);
  waitingCount += 1;
  return new Promise((resolve) => waiting.set(ticket, resolve));
}

async function callAll(method: Method, body: Uint8Array): Promise<Answer> {
  const answers = await Promise.all(threads.map((_, index) => call(index, method, body)));
  return answers.find(({ refusal }) => refusal !== undefined) ?? (answers[0] as Answer);
}

function finish(index: number, report: Report): void {
  if (report.type !== 'done') return;
  const { ticket, body, refusal } = report;
  if (report.ring !== undefined) follow(index, report.ring);
  const { waiting } = threads[index] as Thread;
  const resolve = waiting.get(ticket);
  if (resolve === undefined) return;
  waiting.delete(ticket);
  waitingCount -= 1;
  resolve({ ...(body && { body }), ...(refusal && { refusal }) });
}

/** A thread that found a changed ring tells the client, and the other threads read it too. */
function follow(index: number, changed: RingState): void {
  if (JSON.stringify(changed) === JSON.stringify(ring)) return;
  ring = changed;
  send({ type: 'ring', ring });
  for (const other of threads.keys()) if (other !== index) void call(other, 'refreshRing', pack([]));
}

function send(message: Reply | Notice): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** An error that nobody expected may hold anything, so that only its name is printed. The client starts anew. */
function end(error: unknown): never {
  process.stderr.write(`keyring process: ${error instanceof Error ? error.name : 'failed'}\n`);
  process.exit(1);
}
