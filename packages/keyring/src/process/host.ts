import { Worker } from 'node:worker_threads';
import {
  FIRST_LINE,
  type Notice,
  type Order,
  type Refusal,
  type Report,
  type Settings,
  type SyncAnswer,
  type TransferAnswer,
  type TransferNotice,
  type Wake,
} from './channel.ts';
import type { ThreadSettings } from './thread.ts';

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

const [{ openThread }, { Ceilings }, { AskedTransfers, answerTo }, { AskedSync }] = await Promise.all([
  import('./thread.ts'),
  import('../transfers/ceiling.ts'),
  import('./asked-transfers.ts'),
  import('./asked-sync.ts'),
]);
const asked = settings.asksForTransfers === true ? new AskedTransfers(send) : undefined;
const transfers = asked ?? new Ceilings(settings);
const sync = settings.asksForSync === true ? new AskedSync(send) : undefined;
const threadSettings = (index: number): ThreadSettings => ({
  rootKey: settings.rootKey,
  fd: FIRST_LINE + index,
  refusesAdministration: settings.refusesAdministration === true,
});
/** How many threads have opened the ring, of which the first is this one. */
let opened = 0;
let isWaking = false;
process.once('message', (order: Order) => {
  void open(order).catch(end);
  // Nothing else is heard here; without a listener messages would be kept until there is one.
  process.on('message', (message: Wake | TransferAnswer | SyncAnswer | undefined) => {
    if (message?.type === 'admitted') asked?.hear(message);
    if (message?.type === 'synced') sync?.hear();
    if (message?.type === 'wake' && opened > 0 && !isWaking) void wake(order).catch(end);
  });
});

/** The first one may create the ring. The others cost memory, and are started when there is work for them. */
async function open(order: Order): Promise<void> {
  const first = await openThread(threadSettings(0), order, {
    transfers,
    syncRing: async () => sync?.sync(),
  });
  if (first.type === 'failed') return refuse(first.refusal);
  opened = 1;
  send({ type: 'ready', ring: first.ring });
}

/** One after the other, because a passphrase is stretched in 128 MiB. */
async function wake({ methods }: Order): Promise<void> {
  isWaking = true;
  while (opened < settings.threads) {
    const report = await startWorker(opened, { create: false, methods });
    if (report.type === 'failed') {
      send({ type: 'asleep', message: report.refusal.message });
      break;
    }
    send({ type: 'woken', thread: opened });
    opened += 1;
  }
  isWaking = false;
}

/** A thread that never opened the ring has done nothing, and those that did go on without it. */
function startWorker(index: number, order: Order): Promise<Report> {
  return new Promise((resolve) => {
    let isOpen = false;
    const fail = (message: string): void => resolve({ type: 'failed', refusal: { code: 'UNAVAILABLE', message } });
    let worker: Worker;
    try {
      worker = new Worker(new URL('./worker.js', import.meta.url), { stdin: false, workerData: threadSettings(index) });
    } catch {
      return fail('the system gives the process no further thread');
    }
    worker.once('message', (report: Report) => {
      isOpen = report.type === 'opened';
      resolve(report);
      if (!isOpen) void worker.terminate();
      worker.on('message', (notice: TransferNotice) => void answerThread(worker, notice).catch(end));
    });
    worker.on('error', (error) => (isOpen ? end(error) : fail('a thread could not be started')));
    worker.on('exit', () => (isOpen ? process.exit(1) : fail('a thread ended before it was open')));
    worker.postMessage(order);
  });
}

/** Counted here for all threads. */
async function answerThread(worker: Worker, notice: TransferNotice): Promise<void> {
  worker.postMessage(await answerTo(transfers, notice));
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
