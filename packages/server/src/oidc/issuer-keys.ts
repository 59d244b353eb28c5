import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { lruCache } from '../lib/lru.ts';
import type { GuardedFetch, OutboundAnswer } from '../outbound/guarded-fetch.ts';
import { OutboundError, type OutboundReason } from '../outbound/outbound-error.ts';
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
  const failures = lruCache<Fresh<string>>(ISSUERS_MAX);
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
      if (isFresh(failure, clock)) throw refuseToken(failure.value);
      try {
        return (await loadOnce(issuer)).keys.value;
      } catch (error) {
        if (error instanceof ApiError) failures.set(issuer, { value: error.message, untilMs: clock() + FAILURE_MS });
        throw error;
      }
    },

    async refetched(issuer) {
      const underWay = loading.get(issuer);
      if (underWay === undefined) {
        if (clock() < (refetches.get(issuer) ?? 0) + REFETCH_PAUSE_MS) return known.get(issuer)?.keys.value ?? [];
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
  const answer = await fetchDocument(fetch, clock, url, DISCOVERY_BYTES_MAX, 'discovery document');
  const { issuer: named, jwks_uri: keySetUrl } = Object(answer.value) as Record<string, unknown>;
  if (named !== issuer) throw refuseToken("the issuer's discovery document is not for the iss of the OIDC token");
  if (typeof keySetUrl !== 'string') throw refuseToken("the issuer's discovery document has no jwks_uri");
  return { value: keySetUrl, untilMs: answer.untilMs };
}

async function fetchKeys(fetch: GuardedFetch, clock: Clock, url: string): Promise<Fresh<readonly IssuerKey[]>> {
  const answer = await fetchDocument(fetch, clock, url, KEY_SET_BYTES_MAX, 'key set');
  const keys = readKeySet(answer.value);
  if (keys === undefined) throw refuseToken("the issuer's key set is not a JSON Web Key Set");
  return { value: keys, untilMs: answer.untilMs };
}

async function fetchDocument(
  fetch: GuardedFetch,
  clock: Clock,
  url: string,
  maxBytes: number,
  name: string,
): Promise<Fresh<unknown>> {
  let answer: OutboundAnswer;
  try {
    answer = await fetch(url, { headers: { accept: 'application/json' }, timeoutMs: TIMEOUT_MS, maxBytes });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw refuseToken(`the issuer's ${name} ${PROBLEMS[error.reason]}`, error);
  }
  if (answer.status !== 200) throw refuseToken(`the issuer's ${name} was not served (HTTP status ${answer.status})`);
  return { value: parseJson(answer.body, name), untilMs: clock() + freshMs(answer.headers) };
}

/** The same words for unknown names and names that lead to a private address: nobody shall map our network by them. */
const UNREACHABLE = 'is at no address that may be reached: it must be a public one, over https';
const PROBLEMS: Readonly<Record<OutboundReason, string>> = {
  'bad-url': 'has no usable https URL',
  'forbidden-address': UNREACHABLE,
  unresolved: UNREACHABLE,
  timeout: 'could not be fetched in time',
  'too-large': 'is too large',
  network: 'could not be fetched',
  tls: 'could not be fetched over a trusted TLS connection',
};

function parseJson(body: Buffer, name: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw refuseToken(`the issuer's ${name} is not JSON`);
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
