import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FIRST_LINE, type Notice, type Order, type Refusal, type Report, type Settings } from './channel.ts';
import type { ThreadData } from './worker.ts';

// The entry of the keyring process, whose first thread this is.

const settings = JSON.parse(process.argv[2] ?? '') as Settings;

// Node's own messages carry handles, which are never sent here; its listener would throw at one without.
process.removeAllListeners('internalMessage');
process.on('disconnect', () => process.exit(0));
// The service ends this process when it has finished; a signal to the whole group must not be faster.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('uncaughtException', end);
process.on('unhandledRejection', end);

// The service may have ended before anybody listened.
if (!process.connected) process.exit(0);

// A service of an older version sends no order, and would wait until it gives up.
if ('methods' in settings) {
  refuse({ code: 'UNAVAILABLE', message: 'the files of the keyring were replaced: the service must be started again' });
}

const workers = Array.from({ length: settings.threads - 1 }, (_, index) => startWorker(index + 1));
// Beside the workers, which load the same files.
const { openThread } = await import('./thread.ts');
process.once('message', (order: Order) => void openAll(order).catch(end));
// Nobody else is heard here; without a listener messages would be kept until there is one.
process.on('message', () => {});

/** One after the other, because a passphrase is stretched in 128 MiB. The first one may create the ring. */
async function openAll({ create, methods }: Order): Promise<void> {
  const first = await openThread(settings.rootKey, { create, methods }, FIRST_LINE);
  if (first.type === 'failed') return refuse(first.refusal);
  for (const worker of workers) {
    const answer = once(worker, 'message') as Promise<[Report]>;
    worker.postMessage({ create: false, methods } satisfies Order);
    const [report] = await answer;
    if (report.type === 'failed') return refuse(report.refusal);
  }
  // The ring of the first, which answers for all when it is read again.
  send({ type: 'ready', ring: first.ring });
}

function startWorker(index: number): Worker {
  const workerData: ThreadData = { rootKey: settings.rootKey, fd: FIRST_LINE + index };
  const worker = new Worker(new URL('./worker.js', import.meta.url), { stdin: false, workerData });
  worker.on('error', end);
  worker.on('exit', () => process.exit(1));
  return worker;
}

function refuse(refusal: Refusal): void {
  send({ type: 'failed', refusal });
  process.disconnect();
}

function send(message: Notice): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** An error that nobody expected may hold anything, so that only its name is printed. The client starts anew. */
function end(error: unknown): never {
  process.stderr.write(`keyring process: ${error instanceof Error ? error.name : 'failed'}\n`);
  process.exit(1);
}
