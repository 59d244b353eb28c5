import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { lruCache } from '../lib/lru.ts';

const FRESH_MS = 30_000;
const SERVED_MS = 10 * 60_000;
/** After a refresh that failed, how long until the next. */
const FAILURE_PAUSE_MS = 5_000;
/** Whoever asks for something new waits behind so many others, and no longer. */
const LOADS_MAX = 8;
const QUEUE_MAX = 64;

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

export interface Refreshed<Value> {
  /**
   * What was loaded last: as it is while fresh, then while it is loaded again behind the caller's back, and once it is
   * too old only after that. A load that fails leaves what there is, as long as its age allows.
   */
  get(key: string, load: () => Promise<Value>): Promise<Value>;
  /** What is known, however old. */
  peek(key: string): Value | undefined;
  /** Nothing is loaded again behind anybody's back. */
  close(): void;
}

export interface RefreshedOptions {
  readonly entriesMax: number;
  readonly clock: Clock;
  /** Told of each load that failed behind everybody's back. */
  readonly report?: ((key: string, error: unknown) => void) | undefined;
}

export function createRefreshed<Value>({ entriesMax, clock, report }: RefreshedOptions): Refreshed<Value> {
  const entries = lruCache<Entry<Value>>(entriesMax);
  const failures = lruCache<number>(entriesMax);
  const loading = new Map<string, Promise<Value>>();
  const gate = createGate();
  let isClosed = false;

  function refresh(key: string, load: () => Promise<Value>): Promise<Value> {
    const running = loading.get(key);
    if (running !== undefined) return running;
    const started = gate(load)
      .then(
        (value) => {
          entries.set(key, { value, loadedAtMs: clock() });
          return value;
        },
        (error: unknown) => {
          failures.set(key, clock());
          throw error;
        },
      )
      .finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  }

  return {
    async get(key, load) {
      const entry = entries.get(key);
      const nowMs = clock();
      const ageMs = entry === undefined ? Number.POSITIVE_INFINITY : nowMs - entry.loadedAtMs;
      if (entry === undefined || ageMs >= SERVED_MS) return await refresh(key, load);
      const isPaused = nowMs - (failures.get(key) ?? Number.NEGATIVE_INFINITY) < FAILURE_PAUSE_MS;
      if (ageMs >= FRESH_MS && !isPaused && !isClosed && !loading.has(key)) {
        refresh(key, load).catch((error: unknown) => report?.(key, error));
      }
      return entry.value;
    },
    peek: (key) => entries.get(key)?.value,
    close() {
      isClosed = true;
    },
  };
}

type Gate = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Lets a few through at a time; callers choose what is loaded, and nodes are not theirs to keep busy. */
function createGate(): Gate {
  const queue: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= LOADS_MAX) {
      if (queue.length >= QUEUE_MAX) {
        throw new ApiError('UNAVAILABLE', 'too much is being read from chains', { retryAfterSeconds: 1 });
      }
      await new Promise<void>((resolve) => {
        queue.push(resolve);
      });
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
