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
  const ratio = median(windows.base.map((window, round) => window.rate / (windows.other[round] as Measured).rate));
  return { base: summarize(windows.base), other: summarize(windows.other), ratio };
}
