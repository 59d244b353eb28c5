import type { Stores } from '../../src/storage/stores.ts';

type StoreClass = abstract new (...parameters: never) => object;

/** Stores of a unit test: each stands in for a class and for those that extend it, and has only what the test needs. */
export function fakeStores(...fakes: readonly (readonly [StoreClass, object])[]): Stores {
  const find = (asked: StoreClass): object => {
    for (const [given, fake] of fakes) if (asked === given || asked.prototype instanceof given) return fake;
    throw new Error(`this test has no ${asked.name}`);
  };
  return find as unknown as Stores;
}
