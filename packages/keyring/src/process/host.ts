import { Worker } from 'node:worker_threads';
import type { RingState } from '../keyring.ts';
import { FIRST_LINE, type Notice, type Settings } from './protocol.ts';
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

await openAll();

/** One after the other, because a passphrase is stretched in 128 MiB. The first one may create the ring. */
async function openAll(): Promise<void> {
  let ring: RingState | undefined;
  for (let index = 0; index < settings.threads; index += 1) {
    const report = await startThread(index);
    if (report.type === 'failed') {
      send(report);
      process.disconnect();
      return;
    }
    ring = report.ring;
  }
  send({ type: 'ready', ring: ring as RingState });
}

function startThread(index: number): Promise<Report> {
  const workerData: ThreadData = {
    settings: { ...settings, create: settings.create && index === 0 },
    fd: FIRST_LINE + index,
  };
  const worker = new Worker(new URL('./worker.js', import.meta.url), { stdin: false, workerData });
  worker.on('error', end);
  worker.on('exit', () => process.exit(1));
  return new Promise((resolve) => worker.once('message', resolve));
}

function send(message: Notice): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** An error that nobody expected may hold anything, so that only its name is printed. The client starts anew. */
function end(error: unknown): never {
  process.stderr.write(`keyring process: ${error instanceof Error ? error.name : 'failed'}\n`);
  process.exit(1);
}
