import { parentPort } from 'node:worker_threads';
import type { RingState } from '../keyring.ts';
import { LocalKeyring } from '../local-keyring.ts';
import { flattenSignatures, type Signature } from '../sign/signature.ts';
import { gone, type Method, pack, type Refusal, refusalOf, type Settings, unpackArguments } from './protocol.ts';

// A thread of the keyring process, with a keyring of its own.

export type Task =
  | { readonly type: 'open'; readonly settings: Settings }
  | { readonly type: 'call'; readonly ticket: number; readonly method: Method; readonly body: Uint8Array };

export type Report =
  | { readonly type: 'opened'; readonly ring: RingState }
  | { readonly type: 'failed'; readonly refusal: Refusal }
  | {
      readonly type: 'done';
      readonly ticket: number;
      readonly body?: Uint8Array;
      readonly refusal?: Refusal;
      /** Present when the ring is not the one that was reported before. */
      readonly ring?: RingState;
    };

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
const port = parentPort;
let keyring: LocalKeyring | undefined;
let reported = '';

port.on('message', (task: Task) => {
  const report = task.type === 'open' ? open(task.settings) : call(task.ticket, task.method, task.body);
  void report.then((message) => {
    const body = 'body' in message ? message.body : undefined;
    port.postMessage(message, body === undefined ? [] : [body.buffer as ArrayBuffer]);
  });
});

async function open({ rootKey, create }: Settings): Promise<Report> {
  try {
    keyring = await LocalKeyring.open(rootKey, create);
    reported = JSON.stringify(keyring.ringState);
    return { type: 'opened', ring: keyring.ringState };
  } catch (error) {
    return { type: 'failed', refusal: refusalOf(error) };
  }
}

async function call(ticket: number, method: Method, body: Uint8Array): Promise<Report> {
  const answer = await run(method, body).catch((error: unknown) => ({ refusal: refusalOf(error) }));
  return { type: 'done', ticket, ...answer, ...changedRing() };
}

async function run(method: Method, body: Uint8Array): Promise<{ readonly body: Uint8Array }> {
  if (keyring === undefined) throw gone();
  const call = keyring[method] as (...args: unknown[]) => Promise<unknown>;
  const value = await call.apply(keyring, unpackArguments(body));
  return { body: pack(method === 'sign' ? flattenSignatures(value as Signature[]) : value) };
}

function changedRing(): { readonly ring?: RingState } {
  const ring = keyring?.ringState;
  const text = JSON.stringify(ring);
  if (ring === undefined || text === reported) return {};
  reported = text;
  return { ring };
}
