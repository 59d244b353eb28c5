import type { ReadStores, Stores } from './stores.ts';

/** A database that holds everything; SQLite and PostgreSQL behave the same behind it. */
export interface Storage {
  readonly kind: 'sqlite' | 'postgres';
  /** Reads committed rows, outside any transaction. */
  readonly read: ReadStores;
  /**
   * Runs `unit` in a transaction and answers after the durable commit; an error rolls its writes back. Inside, only the
   * handle it is given may be used, and nothing else may be waited for. The unit may run again after a deadlock.
   */
  write<T>(unit: (store: Stores) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
