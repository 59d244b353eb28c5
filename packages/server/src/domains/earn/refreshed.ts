import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { lruCache } from '../../lib/lru.ts';

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
  get(caip2: string, what: string, load: () => Promise<Value>): Promise<Value>;
  /** What is known, however old. */
  peek(caip2: string, what: string): Value | undefined;
  /** Nothing is loaded again behind anybody's back. */
  close(): void;
}

export interface RefreshedOptions {
  readonly entriesMax: number;
  readonly clock: Clock;
  /** Told of each load that failed behind everybody's back; the key is the chain and what is read of it. */
  readonly report?: ((key: string, error: unknown) => void) | undefined;
}

const keyOf = (caip2: string, what: string): string => `${caip2} ${what}`;

export function createRefreshed<Value>({ entriesMax, clock, report }: RefreshedOptions): Refreshed<Value> {
  const entries = lruCache<Entry<Value>>(entriesMax);
  const failures = lruCache<number>(entriesMax);
  const loading = new Map<string, Promise<Value>>();
  /** One for each chain: nodes that are slow hold up nothing else. */
  const gates = new Map<string, Gate>();
  let isClosed = false;

  function gateOf(caip2: string): Gate {
    const gate = gates.get(caip2) ?? createGate();
    gates.set(caip2, gate);
    return gate;
  }

  function refresh(caip2: string, key: string, load: () => Promise<Value>): Promise<Value> {
    const running = loading.get(key);
    if (running !== undefined) return running;
    const started = gateOf(caip2)(load)
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
    async get(caip2, what, load) {
      const key = keyOf(caip2, what);
      const entry = entries.get(key);
      const nowMs = clock();
      const ageMs = entry === undefined ? Number.POSITIVE_INFINITY : nowMs - entry.loadedAtMs;
      if (entry === undefined || ageMs >= SERVED_MS) return await refresh(caip2, key, load);
      const isPaused = nowMs - (failures.get(key) ?? Number.NEGATIVE_INFINITY) < FAILURE_PAUSE_MS;
      if (ageMs >= FRESH_MS && !isPaused && !isClosed && !loading.has(key)) {
        refresh(caip2, key, load).catch((error: unknown) => report?.(key, error));
      }
      return entry.value;
    },
    peek: (caip2, what) => entries.get(keyOf(caip2, what))?.value,
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
