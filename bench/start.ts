import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb, waitForQuiet } from './child.ts';
import { median } from './figures.ts';
import { Service } from './service.ts';

export interface StartFigures {
  /** On an empty data directory: migrations and the first organization included. */
  readonly firstMs: number;
  readonly againMs: number;
  readonly residentMb: number;
}

const STARTS = 5;
const REST_MS = 5000;

/** Spawn to listening, and what the process holds when nobody asks it anything. */
export async function measureStart(patienceSeconds: number): Promise<StartFigures> {
  const first: number[] = [];
  const again: number[] = [];
  for (let count = 0; count < STARTS; count += 1) {
    await waitForQuiet(patienceSeconds);
    await using service = new Service();
    first.push(await service.start());
    await service.stop();
    again.push(await service.start());
  }
  await using service = new Service();
  await service.start();
  await sleep(REST_MS);
  return { firstMs: median(first), againMs: median(again), residentMb: residentMb(service.target.pid) };
}
