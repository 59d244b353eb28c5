import { CustosError } from '@custos/sdk';
import { noteBack, noteNextTry, probeBy } from '../api/connection.ts';

/** How long the page waits before it tries again. */
export const RETRY_MS = 8_000;

const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whoever refuses is there. */
const isAnswer = (error: unknown): boolean =>
  error instanceof CustosError && error.httpStatus !== undefined && !AWAY.has(error.httpStatus);

/** Asks one small question again and again until the service answers it; ends with the function that it returns. */
export function probeUntilBack(ask: (signal: AbortSignal) => Promise<unknown>, onBack: () => void): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  const tryLater = (): void => {
    noteNextTry(Date.now() + RETRY_MS);
    timer = setTimeout(() => void tryNow(), RETRY_MS);
  };
  const tryNow = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    const isBack = await ask(signal).then(() => true, isAnswer);
    isAsking = false;
    if (signal.aborted) return;
    if (!isBack) {
      tryLater();
      return;
    }
    noteBack();
    onBack();
  };
  const stopProbing = probeBy(() => void tryNow());
  tryLater();
  return () => {
    stopProbing();
    clearTimeout(timer);
    controller.abort();
  };
}

/** Does something at most once in a while; of several times in between the last is made up for. */
export function paced(act: () => void, pauseMs: number): { act(): void; stop(): void } {
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = (): void => {
    timer = undefined;
    lastMs = Date.now();
    act();
  };
  return {
    act() {
      const waitMs = lastMs + pauseMs - Date.now();
      if (waitMs <= 0) run();
      else timer ??= setTimeout(run, waitMs);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
