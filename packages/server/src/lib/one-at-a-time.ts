export interface OneAtATime {
  /** Does the work. A call while it is being done makes it be done once more. */
  call(): void;
  /** When nothing is being done any more. */
  done(): Promise<void>;
}

/**
 * Work that finds for itself what there is to do, and is never done twice at a time. It deals with its own failures.
 * `mayRun` is asked before each time.
 */
export function oneAtATime(work: () => Promise<void>, mayRun: () => boolean): OneAtATime {
  let isRunning = false;
  let isWanted = false;
  let running = Promise.resolve();

  async function run(): Promise<void> {
    while (isWanted && mayRun()) {
      isWanted = false;
      await work();
    }
    // With no await since the last test, so that no call goes unheard.
    isRunning = false;
  }

  return {
    call() {
      if (!mayRun()) return;
      isWanted = true;
      if (isRunning) return;
      isRunning = true;
      running = run();
    },
    done: () => running,
  };
}
