import { AuthorityVersions } from './authority.ts';
import type { Connection, Transaction } from './store.ts';

interface ReaderClass<T> {
  new (connection: Connection): T;
  readonly writes?: false;
}

interface StoreClass<T> {
  new (transaction: Transaction): T;
  /** Keeps a store that writes out of the hands of whoever may only read. */
  readonly writes: true;
}

/** What queries and decisions may use: `read(UserReader)` is the one reader of that class on this connection. */
export type ReadStores = <T>(reader: ReaderClass<T>) => T;

/** What the transaction of an activity may use: `store(UserStore)`. */
export interface Stores extends ReadStores {
  <T>(store: ReaderClass<T> | StoreClass<T>): T;
  /** Runs `inner` so that its failure undoes only its own writes. */
  savepoint<T>(inner: () => Promise<T>): Promise<T>;
}

export const openReadStores = (connection: Connection): ReadStores => opener(connection);

/** Stores over one connection, for one transaction after the other; each of them calls `begin` first. */
export function openStores(
  connection: Connection,
  savepoint: Stores['savepoint'],
): { readonly stores: Stores; readonly begin: () => void } {
  const authority = new AuthorityVersions(connection.db, connection.kind);
  const stores: Stores = Object.assign(opener<Transaction>({ ...connection, authority }), {
    savepoint: async <T>(inner: () => Promise<T>): Promise<T> => {
      const before = authority.mark();
      try {
        return await savepoint(inner);
      } catch (error) {
        authority.restore(before);
        throw error;
      }
    },
  });
  return { stores, begin: () => authority.begin() };
}

/** Makes each store once, when it is first asked for. */
function opener<C>(connection: C): <T>(open: new (connection: C) => T) => T {
  const opened = new Map<unknown, unknown>();
  return <T>(open: new (connection: C) => T): T => {
    let store = opened.get(open) as T | undefined;
    if (store === undefined) {
      store = new open(connection);
      opened.set(open, store);
    }
    return store;
  };
}
