import type { Kysely } from 'kysely';
import type { ArchiveRow } from '../../backup/archive/parts.ts';
import type { DatabaseKind } from '../../storage/dialect.ts';
import type { Schema } from '../../storage/schema.ts';

/** Tables that nobody uses yet. Rows come in and stay as they are: with the marks that they have, and numbered by nobody. */
export interface RawTables {
  readonly kind: DatabaseKind;
  /** For migrations and what little is written beside rows; it marks and verifies nothing. */
  readonly db: Kysely<Schema>;
  /** Between the making of the tables and `settle`, nothing in the database acts by itself on what comes in. */
  still(): Promise<void>;
  settle(): Promise<void>;
  insert(table: string, columns: readonly string[], rows: readonly ArchiveRow[]): Promise<void>;
}
