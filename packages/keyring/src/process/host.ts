import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { RingState } from '../keyring.ts';
import { FIRST_LINE, type Notice, type Refusal, type Settings } from './channel.ts';
import type { Report, ThreadData } from './worker.ts';

// The entry of the keyring process. This thread only starts the threads that hold keys, which have lines of their own.

const settings = JSON.parse(process.argv[2] ?? '') as Settings;

// Node's own messages carry handles, which are never sent here; its listener would throw at one without.
process.removeAllListeners('internalMessage');
// Nobody is heard here; without a listener messages would be kept until there is one.
process.on('message', () => {});
process.on('disconnect', () => process.exit(0));
// The service ends this process when it has finished; a signal to the whole group must not be faster.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('uncaughtException', end);
process.on('unhandledRejection', end);

await openAll(Array.from({ length: settings.threads }, (_, index) => startThread(index)));

/** One after the other, because a passphrase is stretched in 128 MiB. The first one may create the ring. */
async function openAll(threads: readonly Worker[]): Promise<void> {
  const rings: RingState[] = [];
  for (const thread of threads) {
    const answer = once(thread, 'message') as Promise<[Report]>;
    thread.postMessage('open');
    const [report] = await answer;
    if (report.type === 'failed') return refuse(report.refusal);
    rings.push(report.ring);
  }
  // That of the first, which answers for all when the ring is read again.
  send({ type: 'ready', ring: rings[0] as RingState });
}

function startThread(index: number): Worker {
  const workerData: ThreadData = {
    settings: { ...settings, create: settings.create && index === 0 },
    fd: FIRST_LINE + index,
  };
  const thread = new Worker(new URL('./worker.js', import.meta.url), { stdin: false, workerData });
  thread.on('error', end);
  thread.on('exit', () => process.exit(1));
  return thread;
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
