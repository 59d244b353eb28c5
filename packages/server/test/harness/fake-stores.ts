import type { Stores } from '../../src/storage/stores.ts';

type StoreClass = abstract new (...parameters: never) => object;

/** The kernel asks for an abstract class that a store extends, a domain for the store or for its reader. */
const isSame = (asked: StoreClass, given: StoreClass): boolean =>
  asked === given || asked.prototype instanceof given || given.prototype instanceof asked;

/** Stores of a unit test: each stands in for a class and its relatives, and has only what the test needs. */
export function fakeStores(...fakes: readonly (readonly [StoreClass, object])[]): Stores {
  const find = (asked: StoreClass): object => {
    for (const [given, fake] of fakes) if (isSame(asked, given)) return fake;
    throw new Error(`this test has no ${asked.name}`);
  };
  return find as unknown as Stores;
}
