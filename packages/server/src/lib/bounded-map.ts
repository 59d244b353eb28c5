/**
 * A map of limited size that forgets what was put into it first. Reading changes nothing, unlike in lru.ts: there
 * each reading moves an entry, which in a small map that is read for every request costs more than it saves.
 */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

export function boundedMap<Value>(entriesMax: number): BoundedMap<Value> {
  const entries = new Map<string, Value>();
  return {
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= entriesMax) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    },
    delete: (key) => void entries.delete(key),
  };
}
