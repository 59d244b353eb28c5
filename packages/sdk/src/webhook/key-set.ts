import { concat } from '../bytes.ts';
import { type PublicKey, readKeySet } from './keys.ts';
import { failure, type WebhookFailure } from './result.ts';

const LIFETIME_MS_MIN = 5_000;
const LIFETIME_MS_MAX = 86_400_000;
/** Of an answer that does not say. */
const LIFETIME_MS = 300_000;
/** How long keys are used beyond their time while the service cannot be asked. */
const KEPT_MS = 86_400_000;
/** Between two questions for keys that nobody knows, which anybody can make us ask. */
const UNKNOWN_PAUSE_MS = 10_000;
/** Between two questions while they fail. */
const FAILURE_PAUSE_MS = 5_000;
const KEY_SET_BYTES_MAX = 256 * 1024;

export interface KeySetOptions {
  readonly url: string;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly timeoutMs: number;
}

export interface KeySet {
  find(keyId: string): Promise<PublicKey | WebhookFailure>;
}

interface KnownKeys {
  readonly keys: ReadonlyMap<string, PublicKey>;
  readonly etag: string | undefined;
  readonly askedAtMs: number;
  readonly lifetimeMs: number;
}

/** A key set that was fetched, and which of all fetches that was. */
interface FetchedKeys extends KnownKeys {
  readonly fetchNumber: number;
}

/** The published keys, fetched when one is needed and kept for as long as the answer allows. */
export function createKeySet({ url, fetch, now, timeoutMs }: KeySetOptions): KeySet {
  let known: FetchedKeys | undefined;
  let fetchesBegun = 0;
  let running: Promise<void> | undefined;
  let failedAtMs: number | undefined;
  let unknownAskedAtMs: number | undefined;

  // In either direction, so that a clock that is put back does not make anything last longer.
  const isWithin = (startMs: number | undefined, durationMs: number): boolean =>
    startMs !== undefined && Math.abs(now() - startMs) < durationMs;
  const isFresh = (): boolean => isWithin(known?.askedAtMs, known?.lifetimeMs ?? 0);
  const keyOf = (keyId: string): PublicKey | undefined =>
    isWithin(known?.askedAtMs, (known?.lifetimeMs ?? 0) + KEPT_MS) ? known?.keys.get(keyId) : undefined;

  async function load(): Promise<void> {
    const askedAtMs = now();
    fetchesBegun += 1;
    const fetchNumber = fetchesBegun;
    try {
      known = { ...(await ask(known, askedAtMs)), fetchNumber };
      failedAtMs = undefined;
    } catch {
      failedAtMs = now();
      // Nothing was learned about keys that nobody knows, so that the next may ask again.
      unknownAskedAtMs = undefined;
    }
  }

  /** Fetches, unless it is too early for that, or waits for the fetch that runs. */
  async function refresh(cause: 'expired' | 'unknown key'): Promise<void> {
    if (running === undefined) {
      if (isWithin(failedAtMs, FAILURE_PAUSE_MS)) return;
      if (cause === 'unknown key') {
        if (isWithin(unknownAskedAtMs, UNKNOWN_PAUSE_MS)) return;
        unknownAskedAtMs = now();
      }
      running = load().finally(() => {
        running = undefined;
      });
    }
    await running;
  }

  async function ask(previous: KnownKeys | undefined, askedAtMs: number): Promise<KnownKeys> {
    const etag = previous?.etag;
    const headers = { Accept: 'application/json', ...(etag !== undefined && { 'If-None-Match': etag }) };
    return await withTimeout(timeoutMs, async (signal) => {
      // Keys are taken from the named address and from nobody it points to: an answer of 3xx is a failure below. The
      // mode `error` would say so too, but edge runtimes do not have it.
      const response = await fetch(url, { headers, redirect: 'manual', signal });
      const lifetimeMs = lifetimeOf(response.headers);
      if (response.status === 304 && previous !== undefined && etag !== undefined) {
        return { ...previous, askedAtMs, lifetimeMs: lifetimeMs ?? previous.lifetimeMs };
      }
      if (response.status !== 200) throw new Error(`the key set was answered with ${response.status}`);
      const { keys } = (await readJson(response)) as { keys?: unknown };
      if (!Array.isArray(keys)) throw new Error('the answer is no key set');
      return {
        keys: readKeySet(keys),
        etag: response.headers.get('etag') ?? undefined,
        askedAtMs,
        lifetimeMs: lifetimeMs ?? LIFETIME_MS,
      };
    });
  }

  return {
    async find(keyId) {
      const begunBefore = fetchesBegun;
      // A key may be newer than what was asked for before somebody came with it. Only a later answer is the last word.
      const isAnswered = (): boolean => known !== undefined && known.fetchNumber > begunBefore;
      if (!isFresh()) await refresh('expired');
      if (keyOf(keyId) === undefined && !isAnswered()) await refresh('unknown key');
      return keyOf(keyId) ?? failure(isAnswered() ? 'missing_key' : 'key_set_unavailable');
    },
  };
}

/** RFC 9111 for a cache of one's own, within bounds; undefined where the answer does not say. */
function lifetimeOf(headers: Headers): number | undefined {
  const directives = (headers.get('cache-control') ?? '').split(',').map((part) => part.trim().toLowerCase());
  if (directives.some((directive) => /^no-(store|cache)\b/.test(directive))) return LIFETIME_MS_MIN;
  const stated = directives.filter((directive) => directive.startsWith('max-age'));
  if (stated.length === 0) return undefined;
  // What cannot be read counts as no time at all.
  const seconds = stated.map((directive) => Number(/^max-age="?([0-9]+)"?$/.exec(directive)?.[1] ?? 0));
  const age = headers.get('age') ?? '';
  const lifetimeMs = (Math.min(...seconds) - (/^[0-9]+$/.test(age) ? Number(age) : 0)) * 1000;
  return Math.min(Math.max(lifetimeMs, LIFETIME_MS_MIN), LIFETIME_MS_MAX);
}

async function readJson(response: Response): Promise<unknown> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) break;
    length += value.length;
    if (length > KEY_SET_BYTES_MAX) throw new Error('the answer is too long');
    parts.push(value);
  }
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(concat(...parts))) ?? {};
}

/** Also ends work that does not heed its signal. */
async function withTimeout<Result>(timeoutMs: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work(controller.signal), timeout]);
  } finally {
    clearTimeout(timer);
    // Nobody reads what is left of an answer that was refused.
    controller.abort();
  }
}
