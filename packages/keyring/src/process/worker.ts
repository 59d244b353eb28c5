import { parentPort, workerData } from 'node:worker_threads';
import { KeyringError } from '../errors.ts';
import type { TransferGate, Transfers } from '../transfers/limits.ts';
import { AskedTransfers } from './asked-transfers.ts';
import type { Order, TransferAnswer } from './channel.ts';
import { openThread, type ThreadSettings } from './thread.ts';

// The entry of every thread of the keyring process but its first.

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
const port = parentPort;
const settings = workerData as ThreadSettings;
const asked = new AskedTransfers((notice) => port.postMessage(notice));

/** The first thread makes all exports, and counts the imports that others take. */
const transfers: TransferGate = {
  async admit(wanted: Transfers) {
    if (wanted.kind === 'import') return asked.admit(wanted);
    throw new KeyringError('NOT_ALLOWED', 'exports are made by the first thread of a keyring process');
  },
};

// The host says when: not all at once.
port.once('message', async (order: Order) => {
  port.on('message', (answer: TransferAnswer) => asked.hear(answer));
  // The client sends what changes the ring to the first thread.
  port.postMessage(await openThread(settings, order, { transfers, syncRing: async () => {} }));
});
