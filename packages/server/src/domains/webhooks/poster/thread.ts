import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { LocalPosterParts, Posting, Receipt } from './posting.ts';
import { createSlots } from './slots.ts';

/** What can be handed to a thread. */
export type ThreadSettings = Pick<LocalPosterParts, 'allow' | 'ca' | 'timeoutMs'>;

export interface ThreadParts extends ThreadSettings {
  /** Is told of each thread. */
  readonly started?: (worker: Worker) => void;
  /** Is told why a thread ended that nobody ended. */
  readonly died?: (cause: unknown) => void;
}

/** Many at a time, because each message has a price of its own. */
export type PostingBatch = readonly (readonly [ticket: number, posting: Posting])[];
export type ReceiptBatch = readonly (readonly [ticket: number, receipt: Receipt])[];

export interface Thread {
  deliver(posting: Posting): Promise<Receipt>;
  end(): Promise<void>;
}

interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (receipt: Receipt) => void;
}

export function startThread(
  { allow, ca, timeoutMs, started, died }: ThreadParts,
  gone: (thread: Thread) => void,
): Thread {
  const settings: ThreadSettings = {
    allow,
    ...(ca === undefined ? {} : { ca }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const worker = new Worker(join(packageFolder(), 'dist', 'domains', 'webhooks', 'poster', 'worker.js'), {
    workerData: settings,
  });
  const waiting = createSlots<Waiting>();
  let outgoing: [number, Posting][] = [];
  let isGone = false;

  function post(): void {
    const batch: PostingBatch = outgoing;
    outgoing = [];
    if (!isGone) worker.postMessage(batch);
  }

  function leave(): void {
    isGone = true;
    gone(thread);
    for (const { sinceMs, resolve } of waiting.takeAll())
      resolve({ latencyMs: Math.round(performance.now() - sinceMs), error: 'network' });
  }

  function die(cause: unknown): void {
    if (isGone) return;
    leave();
    died?.(cause);
  }

  const thread: Thread = {
    deliver: (posting) =>
      new Promise((resolve) => {
        const ticket = waiting.put({ sinceMs: performance.now(), resolve });
        if (outgoing.push([ticket, posting]) === 1) setImmediate(post);
      }),
    async end() {
      if (!isGone) leave();
      await worker.terminate();
    },
  };

  worker.on('message', (batch: ReceiptBatch) => {
    for (const [ticket, receipt] of batch) waiting.take(ticket)?.resolve(receipt);
  });
  worker.on('error', die);
  worker.on('exit', (code) => die(new Error(`the thread ended with code ${code}`)));
  // The service ends without waiting for a thread that has nothing to do.
  worker.unref();
  started?.(worker);
  return thread;
}

/** The thread runs a built file, also when this one is a source file under a test runner. */
function packageFolder(folder = dirname(fileURLToPath(import.meta.url))): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageFolder(dirname(folder));
}
