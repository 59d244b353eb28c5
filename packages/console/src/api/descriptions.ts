import type { CustosClient } from '@custos/sdk';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { onLeaving } from '../lib/leaving.ts';
import { currentSession } from '../session/session.ts';
import { useClient } from './client.ts';
import { DESCRIPTIONS_MAX, DescriptionCache } from './description-cache.ts';
import { notice } from './query-client.ts';
import type { Description } from './types.ts';

/** In words, by the service: decoding needs its parsers, interfaces and names. */
async function describeSome(
  client: CustosClient,
  activityIds: readonly string[],
  signal?: AbortSignal,
): Promise<readonly Description[]> {
  const parameters = { activityIds: [...new Set(activityIds)] };
  return (await client.describeActivities(parameters, signal ? { signal } : {})).descriptions;
}

/** Many at once, for exports. */
export async function describeMany(
  client: CustosClient,
  activityIds: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Description>> {
  const found = new Map<string, Description>();
  for (let from = 0; from < activityIds.length; from += DESCRIPTIONS_MAX) {
    const some = await describeSome(client, activityIds.slice(from, from + DESCRIPTIONS_MAX), signal);
    for (const description of some) {
      if (description.activityId !== undefined) found.set(description.activityId, description);
    }
  }
  return found;
}

/** By client: one acts by one key, in one organization. */
let caches = new WeakMap<CustosClient, DescriptionCache>();
onLeaving(() => {
  caches = new WeakMap();
});

function useCache(): DescriptionCache {
  const client = useClient();
  const known = caches.get(client);
  if (known !== undefined) return known;
  const cache = new DescriptionCache(async (activityIds) => {
    if (currentSession() === undefined) throw new Error('the session has ended');
    try {
      return await describeSome(client, activityIds);
    } catch (error) {
      notice(error);
      throw error;
    }
  });
  caches.set(client, cache);
  return cache;
}

/** What an activity asks for, in words, for a row of a list; undefined until it is known. */
export function useDescription(activityId: string): Description | undefined {
  const cache = useCache();
  const watch = useCallback((changed: () => void) => cache.watch(activityId, changed), [cache, activityId]);
  return useSyncExternalStore(watch, () => cache.get(activityId)) ?? undefined;
}

/** Those of a short list by activity id, without those that are not known yet. */
export function useDescriptions(activityIds: readonly string[]): ReadonlyMap<string, Description> {
  const cache = useCache();
  const all = activityIds.join();
  const ids = useMemo(() => (all === '' ? [] : all.split(',')), [all]);
  const watch = useCallback(
    (changed: () => void) => {
      const ends = ids.map((id) => cache.watch(id, changed));
      return () => {
        for (const end of ends) end();
      };
    },
    [cache, ids],
  );
  const version = useSyncExternalStore(watch, () => cache.version);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that the cache has other answers
  return useMemo(
    () =>
      new Map(
        ids.flatMap((id) => {
          const description = cache.get(id);
          return description ? [[id, description] as const] : [];
        }),
      ),
    [cache, ids, version],
  );
}
