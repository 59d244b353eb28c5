import { parentPort, workerData } from 'node:worker_threads';
import type { Order } from './channel.ts';
import { openThread } from './thread.ts';

// The entry of every thread of the keyring process but its first.

export interface ThreadData {
  readonly rootKey: string;
  /** The descriptor of the line. */
  readonly fd: number;
}

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
const port = parentPort;
const { rootKey, fd } = workerData as ThreadData;

// The host says when: not all at once.
port.once('message', async (order: Order) => port.postMessage(await openThread(rootKey, order, fd)));
