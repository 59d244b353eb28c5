import { waitForQuiet } from '../child.ts';
import { type Comparison, comparisonOf } from '../compare.ts';
import type { Measured } from '../load/load.ts';
import type { Options } from '../options.ts';

/** Their windows are long, so that fewer are enough. */
const ROUNDS_SHARE = 0.6;

type Window = () => Promise<Measured>;

/** By which the times of two windows are compared: those of one piece among many, or of one that waits for its answer. */
export const byRate = (base: Measured, other: Measured): number => base.rate / other.rate;
export const byLatency = (base: Measured, other: Measured): number => other.p50Us / base.p50Us;

/** Like compare.ts, for windows that end with their work and not by the clock. */
export async function alternate(
  base: Window,
  other: Window,
  ratio: (base: Measured, other: Measured) => number,
  { rounds, patienceSeconds }: Pick<Options, 'rounds' | 'patienceSeconds'>,
): Promise<Comparison> {
  const windows = { base: [] as Measured[], other: [] as Measured[] };
  for (let round = 0; round < Math.ceil(rounds * ROUNDS_SHARE); round += 1) {
    await waitForQuiet(patienceSeconds);
    const order = [async () => windows.base.push(await base()), async () => windows.other.push(await other())];
    for (const window of round % 2 === 0 ? order : order.reverse()) await window();
  }
  return comparisonOf(windows.base, windows.other, ratio);
}
