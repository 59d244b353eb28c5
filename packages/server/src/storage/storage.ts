import type { ReadStores, Stores } from './stores.ts';

export interface WriteOptions {
  readonly isRepeatable?: boolean;
}

/** A database that holds everything; SQLite and PostgreSQL behave the same behind it. */
export interface Storage {
  readonly kind: 'sqlite' | 'postgres';
  /** Reads committed rows, outside any transaction. */
  readonly read: ReadStores;
  /**
   * Runs `unit` in a transaction and answers after the durable commit; an error rolls its writes back. Inside, only the
   * handle it is given may be used, and nothing else may be waited for. The unit may run again after a deadlock. With
   * `isRepeatable` it answers before the disk has it: a killed process loses nothing, but a power cut may undo what was
   * written in the last moments, so that it is only for what is then simply done again.
   */
  write<T>(unit: (store: Stores) => Promise<T>, options?: WriteOptions): Promise<T>;
  close(): Promise<void>;
}
