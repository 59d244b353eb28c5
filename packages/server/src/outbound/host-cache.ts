import { boundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import type { ResolveHost } from './resolve-host.ts';

/**
 * The addresses of host names for a while, so that a busy host does not cost a question to a name server every time.
 */
export interface HostCache {
  /** What is known without asking; the same list for as long as it is fresh. */
  known(hostname: string): readonly string[] | undefined;
  /** Those who ask while an answer is on its way wait for the same one. */
  readonly find: ResolveHost;
}

interface Entry {
  readonly answer: Promise<readonly string[]>;
  addresses?: readonly string[];
  freshUntilMs: number;
}

const HOSTS_MAX = 4096;
const FRESH_MS = 30_000;
/** Enough that a burst to a host without addresses is one question. */
const FAILURE_MS = 1000;

export function createHostCache(resolveHost: ResolveHost, clock: Clock): HostCache {
  const entries = boundedMap<Entry>(HOSTS_MAX);

  function fresh(hostname: string): Entry | undefined {
    const entry = entries.get(hostname);
    return entry !== undefined && clock() < entry.freshUntilMs ? entry : undefined;
  }

  function ask(hostname: string): Entry {
    const answer = resolveHost(hostname);
    const entry: Entry = { answer, freshUntilMs: clock() + FRESH_MS };
    const fail = (): void => {
      entry.freshUntilMs = clock() + FAILURE_MS;
    };
    answer.then((addresses) => {
      if (addresses.length === 0) fail();
      else entry.addresses = addresses;
    }, fail);
    entries.set(hostname, entry);
    return entry;
  }

  return {
    known: (hostname) => fresh(hostname)?.addresses,
    find: (hostname) => (fresh(hostname) ?? ask(hostname)).answer,
  };
}
