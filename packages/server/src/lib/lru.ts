import { type BoundedMap, boundedMap } from './bounded-map.ts';

/** A map of limited size that forgets what was used least recently. */
export type LruCache<Value> = BoundedMap<Value>;

export function lruCache<Value>(entriesMax: number): LruCache<Value> {
  const entries = boundedMap<Value>(entriesMax);
  return {
    ...entries,
    get(key) {
      const value = entries.get(key);
      // What is put in again is the last to be forgotten.
      if (value !== undefined) entries.set(key, value);
      return value;
    },
  };
}
