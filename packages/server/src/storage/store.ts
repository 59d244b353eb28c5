import type { Kysely } from 'kysely';
import type { AuthorityVersions } from './authority.ts';
import type { DatabaseKind } from './dialect.ts';
import type { OwnedSets } from './integrity/owned-sets.ts';
import { type KeptOptions, KeptValues, type Revisions } from './revisions.ts';
import type { Schema } from './schema.ts';
import type { Table } from './table.ts';

export interface Connection {
  readonly db: Kysely<Schema>;
  readonly kind: DatabaseKind;
  /** All tables, for what concerns every one of them. */
  readonly tables: readonly Table[];
  /** Where no other process writes: what was read may then be kept while it is still so. */
  readonly revisions?: Revisions | undefined;
}

export interface Transaction extends Connection {
  readonly authority: AuthorityVersions;
  readonly owned: OwnedSets;
  readonly ahead: ReadAhead;
}

type ReadAheadTable = 'api_key' | 'webhook_endpoint';

/**
 * What one transaction read before it needed it. Stores that write such a table call `forget` first, and it is read
 * again.
 */
export class ReadAhead {
  readonly #read = new Map<ReadAheadTable, Map<string, unknown>>();

  keep(table: ReadAheadTable, name: string, value: unknown): void {
    const known = this.#read.get(table);
    if (known === undefined) this.#read.set(table, new Map([[name, value]]));
    else known.set(name, value);
  }

  get(table: ReadAheadTable, name: string): unknown {
    return this.#read.get(table)?.get(name);
  }

  forget(table: ReadAheadTable): void {
    this.#read.delete(table);
  }

  forgetAll(): void {
    this.#read.clear();
  }
}

/** What a store keeps of what it reads, where that is possible. A transaction sees its own changes. */
export const keptValues = <Value>(
  connection: Connection,
  bounds: Pick<KeptOptions<Value>, 'sizeOf' | 'sizeMax'> = {},
): KeptValues<Value> | undefined =>
  connection.revisions && new KeptValues(connection.revisions, { ...bounds, isInside: 'authority' in connection });

/** What reads some tables. Its store, which also writes them, extends it. */
export abstract class Reader {
  protected readonly db: Kysely<Schema>;
  protected readonly kind: DatabaseKind;

  constructor({ db, kind }: Connection) {
    this.db = db;
    this.kind = kind;
  }
}
