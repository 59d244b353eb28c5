import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** A forward change of the schema. Numbered, small, never edited once released. */
export interface Migration {
  readonly name: string;
  up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void>;
}
