import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/**
 * Whether programs that do not know a migration can go on beside it: after `expand` they read and write as before, after
 * `contract` they must not (docs/decisions/0036).
 */
export type Compatibility = 'expand' | 'contract';

/** A forward change of the schema. Numbered, small, never edited once released. */
export interface Migration {
  readonly name: string;
  readonly compatibility: Compatibility;
  /**
   * It adds columns to a table of which older processes have prepared `SELECT *`, which PostgreSQL refuses from then on.
   * Their connections are ended, and on new ones they prepare it anew (docs/decisions/0036).
   */
  readonly endsSessions?: true;
  up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void>;
}
