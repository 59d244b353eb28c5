import { waitForQuiet } from './child.ts';
import { median, type Summary, summarize, warmUpSeconds } from './figures.ts';
import type { Measured } from './load/load.ts';
import type { Options } from './options.ts';

/** The same request in two organizations. */
export interface Comparison {
  readonly base: Summary;
  readonly other: Summary;
  /** How many times the time of the base it takes: the median of the rounds' own ratios. */
  readonly ratio: number;
  /** The same of processor time. */
  readonly cpuRatio: number;
}

type Window = (seconds: number) => Promise<Measured>;

/** Rounds alternate, so that a noisy machine moves both. */
export async function compare(
  base: Window,
  other: Window,
  { rounds, seconds, patienceSeconds }: Pick<Options, 'rounds' | 'seconds' | 'patienceSeconds'>,
): Promise<Comparison> {
  const windows = { base: [] as Measured[], other: [] as Measured[] };
  for (const run of [base, other]) await run(warmUpSeconds(seconds));
  for (let round = 0; round < rounds; round += 1) {
    await waitForQuiet(patienceSeconds);
    const order = [
      async () => windows.base.push(await base(seconds)),
      async () => windows.other.push(await other(seconds)),
    ];
    for (const window of round % 2 === 0 ? order : order.reverse()) await window();
  }
  return comparisonOf(windows.base, windows.other, (one, two) => one.rate / two.rate);
}

/** Medians of the rounds, and of the rounds' own ratios. */
export function comparisonOf(
  base: readonly Measured[],
  other: readonly Measured[],
  ratio: (base: Measured, other: Measured) => number,
): Comparison {
  const over = (of: (base: Measured, other: Measured) => number): number =>
    median(base.map((window, round) => of(window, other[round] as Measured)));
  return {
    base: summarize(base),
    other: summarize(other),
    ratio: over(ratio),
    cpuRatio: over((one, two) => two.cpuUs / one.cpuUs),
  };
}
