import type { Wish } from './simulation.ts';
import type { Description } from './types.ts';
import { useRawApi } from './use-raw-api.ts';

const NOTHING: Wish = { type: '', parameters: {} };

/** The sentence of something that is not yet submitted; undefined while it is not known. */
export function useWishDescription(wish: Wish | undefined): Description | undefined {
  const { data } = useRawApi<{ description: Description }>(
    'describe_activity',
    { request: wish ?? NOTHING },
    { enabled: wish !== undefined },
  );
  return wish === undefined ? undefined : data?.description;
}

const ASKED_MAX = 100;

/** The sentences of activities, by id. */
export function useDescriptions(activityIds: readonly string[]): ReadonlyMap<string, Description> {
  const asked = [...new Set(activityIds)].slice(0, ASKED_MAX);
  const { data } = useRawApi<{ descriptions: readonly Description[] }>(
    'describe_activities',
    { activityIds: asked },
    { enabled: asked.length > 0, keepsPrevious: true },
  );
  return new Map((data?.descriptions ?? []).flatMap((one) => (one.activityId ? [[one.activityId, one] as const] : [])));
}
