import type { CustosClient } from '@custos/sdk';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useOrganization } from '../session/organization.ts';
import { useSessionOrThrow, useSessionState } from '../session/session.ts';
import { useClient } from './client.ts';
import type { Description } from './types.ts';

const BATCH_MAX = 100;
/** Rows come into view in bursts; those of a burst are asked for together. */
const GATHER_MS = 30;
/** After a long scroll, people return to few of the rows. */
const KEPT_MS = 60_000;

interface Waiting {
  readonly activityId: string;
  readonly resolve: (description: Description | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks for sentences of many rows in few queries. */
class DescriptionLoader {
  readonly #describe: (activityIds: readonly string[]) => Promise<readonly Description[]>;
  #waiting: Waiting[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(describe: (activityIds: readonly string[]) => Promise<readonly Description[]>) {
    this.#describe = describe;
  }

  load(activityId: string): Promise<Description | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ activityId, resolve, reject });
      this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS);
    });
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#timer = undefined;
    for (let from = 0; from < waiting.length; from += BATCH_MAX) {
      const batch = waiting.slice(from, from + BATCH_MAX);
      try {
        const found = await this.#describe(batch.map(({ activityId }) => activityId));
        const byId = new Map(found.map((description) => [description.activityId, description]));
        for (const { activityId, resolve } of batch) resolve(byId.get(activityId) ?? null);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}

/** In words, by the service: decoding needs its parsers, interfaces and names. */
async function describeSome(
  client: CustosClient,
  activityIds: readonly string[],
  signal?: AbortSignal,
): Promise<readonly Description[]> {
  const parameters = { activityIds: [...new Set(activityIds)] };
  return (await client.describeActivities(parameters, signal ? { signal } : {})).descriptions;
}

const loaders = new WeakMap<CustosClient, DescriptionLoader>();

function loaderOf(client: CustosClient): DescriptionLoader {
  const known = loaders.get(client);
  if (known !== undefined) return known;
  const loader = new DescriptionLoader((activityIds) => describeSome(client, activityIds));
  loaders.set(client, loader);
  return loader;
}

/** Many at once, for exports. */
export async function describeMany(
  client: CustosClient,
  activityIds: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Description>> {
  const found = new Map<string, Description>();
  for (let from = 0; from < activityIds.length; from += BATCH_MAX) {
    const some = await describeSome(client, activityIds.slice(from, from + BATCH_MAX), signal);
    for (const description of some) {
      if (description.activityId !== undefined) found.set(description.activityId, description);
    }
  }
  return found;
}

/** Sentences for lists, by activity id; those that are still asked for are missing. */
export function useDescriptions(activityIds: readonly string[]): ReadonlyMap<string, Description> {
  const client = useClient();
  const { userId } = useSessionOrThrow();
  const { organizationId } = useOrganization();
  const { session } = useSessionState();
  const unique = useMemo(() => [...new Set(activityIds)], [activityIds]);
  return useQueries({
    queries: unique.map((activityId) => ({
      // Not among the answers that the feed makes stale: what was asked does not change.
      queryKey: ['description', userId, organizationId, activityId],
      queryFn: () => loaderOf(client).load(activityId),
      staleTime: KEPT_MS,
      gcTime: KEPT_MS,
      enabled: session !== undefined,
    })),
    combine: (results) => {
      const found = new Map<string, Description>();
      for (const { data } of results) if (data?.activityId !== undefined) found.set(data.activityId, data);
      return found;
    },
  });
}
