import type { Wish } from './simulation.ts';
import type { Description } from './types.ts';
import { useApi } from './use-api.ts';

const NOTHING: Wish = { type: '', parameters: {} };

/** The sentence of something that is not yet submitted; undefined while it is not known. */
export function useWishDescription(wish: Wish | undefined): Description | undefined {
  const { data } = useApi('describeActivity', { request: wish ?? NOTHING }, { enabled: wish !== undefined });
  return wish === undefined ? undefined : data?.description;
}
