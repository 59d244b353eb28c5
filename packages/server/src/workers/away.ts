import type { WorkerObserver } from './strategy.ts';

/** Tells of failures once, until it has recovered: polls and retries come every second. */
export function tellOnce(tell: (error: unknown) => void): WorkerObserver {
  let isAway = false;
  return {
    failed: (error) => {
      if (!isAway) tell(error);
      isAway = true;
    },
    recovered: () => {
      isAway = false;
    },
  };
}
