import type { Kysely } from 'kysely';
import type { AuthorityVersions } from './authority.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Revisions } from './revisions.ts';
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
}

export const isTransaction = (connection: Connection): connection is Transaction => 'authority' in connection;

/** What reads some tables. Its store, which also writes them, extends it. */
export abstract class Reader {
  protected readonly db: Kysely<Schema>;
  protected readonly kind: DatabaseKind;

  constructor({ db, kind }: Connection) {
    this.db = db;
    this.kind = kind;
  }
}
