/** While requests are answered so many deliveries begin in each slice of time: eight hundred a second. */
const SLICE_MS = 5;
const TURNS_PER_SLICE = 4;

/** Resolves when one more delivery may begin. */
export type Pace = () => Promise<void>;

/** Deliveries can wait for some milliseconds, requests should not: without requests there is no limit. */
export function createPace(isBusy: () => boolean): Pace {
  const waiting: (() => void)[] = [];
  let left = TURNS_PER_SLICE;
  let isRunning = false;

  const nextSlice = (): void => {
    isRunning = false;
    left = TURNS_PER_SLICE;
    const count = isBusy() ? TURNS_PER_SLICE : waiting.length;
    for (const go of waiting.splice(0, count)) {
      left -= 1;
      go();
    }
    if (left < TURNS_PER_SLICE) run();
  };
  const run = (): void => {
    if (isRunning) return;
    isRunning = true;
    setTimeout(nextSlice, SLICE_MS);
  };

  return async () => {
    if (!isBusy()) return;
    run();
    if (left > 0) left -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
}
