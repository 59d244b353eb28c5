/**
 * What comes and goes by the thousand. A Set or a Map would do, but for the tables that it leaves behind as its members
 * change: each holds on to what was in it and to the next one, so that only a full garbage collection frees any of it.
 */
export interface Slots<Value> {
  put(value: Value): number;
  /** Empties a slot; undefined if it is empty. */
  take(slot: number): Value | undefined;
  takeAll(): Value[];
}

export function createSlots<Value extends object>(): Slots<Value> {
  let values: (Value | undefined)[] = [];
  let free: number[] = [];
  return {
    put(value) {
      const slot = free.pop() ?? values.length;
      values[slot] = value;
      return slot;
    },
    take(slot) {
      const value = values[slot];
      if (value === undefined) return undefined;
      values[slot] = undefined;
      free.push(slot);
      return value;
    },
    takeAll() {
      const taken = values.filter((value) => value !== undefined);
      values = [];
      free = [];
      return taken;
    },
  };
}
