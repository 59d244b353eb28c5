import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { lruCache } from '../../lib/lru.ts';
import type { GuardedFetch, OutboundAnswer } from '../../outbound/guarded-fetch.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { refuseToken } from './id-token.ts';
import { type IssuerKey, readKeySet } from './key-set.ts';

/** The keys of issuers, fetched when needed and kept for as long as their issuers say, within bounds. */
export interface IssuerKeys {
  current(issuer: string): Promise<readonly IssuerKey[]>;
  /** For a token whose key is not among the current ones: asks the issuer again, unless that was done just now. */
  refetched(issuer: string): Promise<readonly IssuerKey[]>;
}

interface Fresh<Value> {
  readonly value: Value;
  readonly untilMs: number;
}

interface KnownIssuer {
  readonly keySetUrl: Fresh<string>;
  readonly keys: Fresh<readonly IssuerKey[]>;
}

const ISSUERS_MAX = 1000;
const DISCOVERY_BYTES_MAX = 64 * 1024;
const KEY_SET_BYTES_MAX = 256 * 1024;
const TIMEOUT_MS = 5000;
const FRESH_MS = { min: 60_000, default: 60 * 60_000, max: 6 * 60 * 60_000 };
const REFETCH_PAUSE_MS = 30_000;
const FAILURE_MS = 5000;

export function createIssuerKeys(fetch: GuardedFetch, clock: Clock): IssuerKeys {
  const known = lruCache<KnownIssuer>(ISSUERS_MAX);
  // Apart from the known ones, so that a flood of made-up issuers cannot push out those that people log in with.
  const failures = lruCache<Fresh<ApiError>>(ISSUERS_MAX);
  const refetches = lruCache<number>(ISSUERS_MAX);
  const loading = new Map<string, Promise<KnownIssuer>>();

  async function load(issuer: string, before: KnownIssuer | undefined): Promise<KnownIssuer> {
    const keySetUrl = isFresh(before?.keySetUrl, clock) ? before.keySetUrl : await fetchKeySetUrl(fetch, clock, issuer);
    const loaded = { keySetUrl, keys: await fetchKeys(fetch, clock, keySetUrl.value) };
    known.set(issuer, loaded);
    return loaded;
  }

  /** Those who ask while an answer is on its way wait for the same one. */
  function loadOnce(issuer: string): Promise<KnownIssuer> {
    const underWay = loading.get(issuer);
    if (underWay !== undefined) return underWay;
    const started = load(issuer, known.get(issuer)).finally(() => loading.delete(issuer));
    loading.set(issuer, started);
    return started;
  }

  return {
    async current(issuer) {
      const found = known.get(issuer);
      if (isFresh(found?.keys, clock) && isFresh(found?.keySetUrl, clock)) return found.keys.value;
      const failure = failures.get(issuer);
      if (isFresh(failure, clock)) throw unusable(failure.value);
      try {
        return (await loadOnce(issuer)).keys.value;
      } catch (error) {
        if (error instanceof ApiError) failures.set(issuer, { value: error, untilMs: clock() + FAILURE_MS });
        throw error;
      }
    },

    async refetched(issuer) {
      const underWay = loading.get(issuer);
      if (underWay === undefined) {
        if (clock() < (refetches.get(issuer) ?? Number.NEGATIVE_INFINITY) + REFETCH_PAUSE_MS)
          return known.get(issuer)?.keys.value ?? [];
        refetches.set(issuer, clock());
      }
      return (await (underWay ?? loadOnce(issuer))).keys.value;
    },
  };
}

function isFresh<Value>(held: Fresh<Value> | undefined, clock: Clock): held is Fresh<Value> {
  return held !== undefined && clock() < held.untilMs;
}

/** OpenID Connect Discovery 1.0, sections 4.1 and 4.3. */
async function fetchKeySetUrl(fetch: GuardedFetch, clock: Clock, issuer: string): Promise<Fresh<string>> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetchDocument(fetch, clock, url, DISCOVERY_BYTES_MAX);
  const { issuer: named, jwks_uri: keySetUrl } = Object(answer.value) as Record<string, unknown>;
  if (named !== issuer || typeof keySetUrl !== 'string') throw unusable();
  return { value: keySetUrl, untilMs: answer.untilMs };
}

async function fetchKeys(fetch: GuardedFetch, clock: Clock, url: string): Promise<Fresh<readonly IssuerKey[]>> {
  const answer = await fetchDocument(fetch, clock, url, KEY_SET_BYTES_MAX);
  const keys = readKeySet(answer.value);
  if (keys === undefined) throw unusable();
  return { value: keys, untilMs: answer.untilMs };
}

async function fetchDocument(
  fetch: GuardedFetch,
  clock: Clock,
  url: string,
  maxBytes: number,
): Promise<Fresh<unknown>> {
  let answer: OutboundAnswer;
  try {
    answer = await fetch(url, { headers: { accept: 'application/json' }, timeoutMs: TIMEOUT_MS, maxBytes });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw unusable(error);
  }
  if (answer.status !== 200) throw unusable();
  return { value: parseJson(answer.body), untilMs: clock() + freshMs(answer.headers) };
}

/**
 * One text, whatever is wrong: by different ones a caller could tell which addresses exist, what listens there and what
 * it answers.
 */
const unusable = (cause?: unknown): ApiError =>
  refuseToken(
    "the issuer's keys could not be fetched: its discovery document and its key set must be served over https from public addresses, in time, and be as OpenID Connect Discovery has them",
    cause,
  );

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw unusable();
  }
}

/** How long an answer may be used (RFC 9111, section 4.2), within our own bounds. */
function freshMs(headers: OutboundAnswer['headers']): number {
  const control = headers['cache-control'] ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return FRESH_MS.min;
  const [, seconds] = /\bmax-age="?(\d{1,9})/i.exec(control) ?? [];
  if (seconds === undefined) return FRESH_MS.default;
  const age = /^\d{1,9}$/.test(headers.age ?? '') ? Number(headers.age) : 0;
  return Math.min(Math.max((Number(seconds) - age) * 1000, FRESH_MS.min), FRESH_MS.max);
}
