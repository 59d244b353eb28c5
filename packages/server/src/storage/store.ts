import type { Kysely } from 'kysely';
import type { AuthorityVersions } from './authority.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Schema } from './schema.ts';

export interface Connection {
  readonly db: Kysely<Schema>;
  readonly kind: DatabaseKind;
}

export interface Transaction extends Connection {
  readonly authority: AuthorityVersions;
}

/** What reads some tables. Its store, which also writes them, extends it. */
export abstract class Reader {
  protected readonly db: Kysely<Schema>;
  protected readonly kind: DatabaseKind;

  constructor({ db, kind }: Connection) {
    this.db = db;
    this.kind = kind;
  }
}
