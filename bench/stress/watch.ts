import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb } from '../child.ts';
import { type Reply, Wire } from './wire.ts';

const LOOK_MS = 100;

/** The most memory that a process and its children took while something ran. */
export async function peakMemory<T>(pid: number, run: () => Promise<T>): Promise<{ value: T; peakMb: number }> {
  let peakMb = residentMb(pid);
  const timer = setInterval(() => {
    const now = residentMb(pid);
    if (now > peakMb) peakMb = now;
  }, LOOK_MS);
  try {
    const value = await run();
    return { value, peakMb };
  } finally {
    clearInterval(timer);
  }
}

export interface Visitor {
  readonly port: number;
  readonly from: string;
  readonly requests: readonly Buffer[];
  readonly everyMs: number;
  readonly seconds: number;
  /** A connection for each request. */
  readonly isNew: boolean;
  /** Ends the visit early. */
  readonly signal?: AbortSignal;
}

/** Somebody who asks one thing after the other, at a modest pace. */
export async function visit({ port, from, requests, everyMs, seconds, isNew, signal }: Visitor): Promise<Reply[]> {
  const replies: Reply[] = [];
  const endsAt = performance.now() + seconds * 1000;
  const wire = new Wire(port, from);
  for (let count = 0; performance.now() < endsAt && !signal?.aborted; count += 1) {
    const request = requests[count % requests.length];
    if (request === undefined) break;
    const reply = await wire.send(request);
    replies.push(reply);
    if (isNew) wire.close();
    await sleep(Math.max(0, everyMs - reply.milliseconds));
  }
  wire.close();
  return replies;
}
