import { AuthorityVersions } from './authority.ts';
import { driverOf } from './connection-dialect.ts';
import { release } from './integrity/amend.ts';
import { OwnedSets } from './integrity/owned-sets.ts';
import { type Connection, ReadAhead, type Transaction } from './store.ts';
import type { Table } from './table.ts';

type ReaderClass<T> = (abstract new (connection: Connection) => T) & { readonly writes?: false };

/** The mark keeps a store that writes out of the hands of whoever may only read. */
type StoreClass<T> = (abstract new (transaction: Transaction) => T) & { readonly writes: true };

/** An abstract class that the kernel asks for, and the store of a domain that has what it names. */
export interface Provision {
  readonly asked: abstract new () => object;
  readonly given: new (transaction: Transaction) => object;
}

/** A store that lacks something, or that writes where only reading is asked for, does not compile. */
export const provide = <T extends object, W extends boolean = false>(
  asked: (abstract new () => T) & { readonly writes?: W },
  given: (new (transaction: Transaction) => T) & { readonly writes?: NoInfer<W> },
): Provision => ({ asked, given });

/** What domains and kernel bring to a database: their tables, and stores for those who know no domain. */
export interface DataModel {
  readonly tables: readonly Table[];
  readonly provisions: readonly Provision[];
}

/** What queries and decisions may use: `read(UserReader)` is the one reader of that class on this connection. */
export type ReadStores = <T>(reader: ReaderClass<T>) => T;

/** What the transaction of an activity may use: `store(UserStore)`. */
export interface Stores extends ReadStores {
  <T>(store: ReaderClass<T> | StoreClass<T>): T;
  /** Runs `inner` so that its failure undoes only its own writes. */
  savepoint<T>(inner: () => Promise<T>): Promise<T>;
}

type Bare = Omit<Connection, 'tables'>;

export const openReadStores = (connection: Bare, { tables, provisions }: DataModel): ReadStores =>
  opener<Connection>({ ...connection, tables }, provisions);

/** Stores over one connection, for one transaction or several, one after the other: each but the first calls `begin`. */
export function openStores(
  connection: Bare,
  { tables, provisions }: DataModel,
  savepoint: Stores['savepoint'],
): { readonly stores: Stores; readonly begin: () => void; readonly end: () => Promise<void> } {
  const { db, kind } = connection;
  const authority = new AuthorityVersions(db, kind);
  const owned = new OwnedSets(db);
  const ahead = new ReadAhead();
  const transaction = { ...connection, tables, authority, owned, ahead };
  const stores: Stores = Object.assign(opener<Transaction>(transaction, provisions), {
    savepoint: async <T>(inner: () => Promise<T>): Promise<T> => {
      const before = [authority.mark(), owned.mark()] as const;
      try {
        return await savepoint(inner);
      } catch (error) {
        authority.restore(before[0]);
        owned.restore(before[1]);
        release(db);
        throw error;
      }
    },
  });
  const begin = (): void => {
    authority.begin();
    owned.begin();
    release(db);
    ahead.forgetAll();
  };
  const end = async (): Promise<void> => await owned.end();
  const driver = driverOf(db);
  driver.settle = end;
  driver.putInSet = (table, row, before) => owned.put(table, row, before);
  return { stores, begin, end };
}

/** Makes each store once, when it is first asked for. */
function opener<C extends Connection>(
  connection: C,
  provisions: readonly Provision[],
): <T>(open: abstract new (connection: C) => T) => T {
  const opened = new Map<unknown, unknown>();
  return <T>(asked: abstract new (connection: C) => T): T => {
    let store = opened.get(asked) as T | undefined;
    if (store === undefined) {
      // They are few, and a transaction asks for few stores: a table of them would cost more.
      const provided: unknown = provisions.find((provision) => provision.asked === (asked as unknown))?.given;
      const given = (provided ?? asked) as (new (connection: C) => T) & { readonly writes?: boolean };
      if (given.writes && !('authority' in connection)) throw new Error(`${given.name} writes: it needs a transaction`);
      store = new given(connection);
      opened.set(asked, store);
    }
    return store;
  };
}
