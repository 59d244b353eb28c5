import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { localPoster } from './poster.ts';
import type { Receipt } from './posting.ts';
import type { PostingBatch, ReceiptBatch, ThreadSettings } from './thread.ts';

// The thread of threadPoster.

/** A third of what a thread of requests gets where both want all; with less it would fall behind a busy service. */
const NICENESS = 5;

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
const port = parentPort;
const poster = localPoster(workerData as ThreadSettings);
let outgoing: [number, Receipt][] = [];

yieldToRequests();

port.on('message', (batch: PostingBatch) => {
  for (const [ticket, posting] of batch) {
    void poster.deliver(posting).then((receipt) => {
      if (outgoing.push([ticket, receipt]) === 1) setImmediate(report);
    });
  }
});

function report(): void {
  const batch: ReceiptBatch = outgoing;
  outgoing = [];
  port.postMessage(batch);
}

/** On Linux the call concerns the thread that makes it, elsewhere the whole process, which must keep its own. */
function yieldToRequests(): void {
  if (process.platform !== 'linux') return;
  try {
    if (getPriority() < NICENESS) setPriority(NICENESS);
  } catch {
    // It is only a courtesy; some sandboxes forbid it.
  }
}
