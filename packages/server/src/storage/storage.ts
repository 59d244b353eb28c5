import type { Fence, Fenced } from './fence.ts';
import type { Integrity } from './integrity/integrity.ts';
import type { ReadStores, Stores } from './stores.ts';
import type { Turn } from './turnstile.ts';

export interface WriteOptions {
  /** For whom it is written: nothing is for an organization that is held after a restore. */
  readonly of?: Fenced;
  readonly isRepeatable?: boolean;
  /** The organization that the unit holds first; those who would only wait for it keep no connection busy meanwhile. */
  readonly turn?: Turn;
  /** For what may take minutes and is worth them, such as erasing an organization. */
  readonly isLong?: boolean;
  /**
   * Something was done for it that cannot be done again, so it waits for its turn as long as it may wait for anything.
   */
  readonly isIrrevocable?: boolean;
}

/** How much of its connections a database has in use. */
export interface PoolLoad {
  readonly pool: 'read' | 'write';
  readonly connections: number;
  readonly busy: number;
  /** Who waits for a connection, or for its turn to ask for one; on SQLite the queue of writes. */
  readonly waiting: number;
  /** How often an answer or a connection came too late, since the start. */
  readonly timeouts: number;
}

/** A database that holds everything; SQLite and PostgreSQL behave the same behind it. */
export interface Storage {
  readonly kind: 'sqlite' | 'postgres';
  /** Reads committed rows, outside any transaction. */
  readonly read: ReadStores;
  readonly load: readonly PoolLoad[];
  /** What marks and verifies rows; it needs a key from the keyring before anything of an organization is read. */
  readonly integrity: Integrity;
  /** What holds work after a restore from a backup; until it is loaded, all of it. */
  readonly fence: Fence;
  /**
   * Runs `unit` in a transaction and answers after the durable commit; an error rolls its writes back. Inside, only the
   * handle it is given may be used, and nothing else may be waited for. The unit may run again after a deadlock. With
   * `isRepeatable` it answers before the disk has it: a killed process loses nothing, but a power cut may undo what was
   * written in the last moments, so that it is only for what is then simply done again.
   */
  write<T>(unit: (store: Stores) => Promise<T>, options?: WriteOptions): Promise<T>;
  close(): Promise<void>;
}

/**
 * The database as requests have it. What they write names the organization that it is for, so that none can be forgotten while
 * the fence is up.
 */
export type RequestStorage = Omit<Storage, 'write' | 'close'> & {
  write<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions & { readonly of: Fenced }): Promise<T>;
};
