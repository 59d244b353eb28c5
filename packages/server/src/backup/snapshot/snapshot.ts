import type { DatabaseKind } from '../../storage/dialect.ts';
import type { AppliedMigration } from '../../storage/migrate.ts';
import type { ArchiveRow, ArchiveValue } from '../archive/parts.ts';

/** A batch has about so many bytes, or one row that is larger. */
export const BATCH_BYTES = 256 * 1024;
export const BATCH_ROWS = 500;

/** The database as it was at one moment, whatever others write meanwhile. */
export interface Snapshot {
  readonly kind: DatabaseKind;
  readonly atMs: number;
  /** Which commit it holds last; undefined where only the rows tell. */
  readonly position: string | undefined;
  readonly migrations: readonly AppliedMigration[];
  columnsOf(table: string): Promise<readonly string[]>;
  /** Every row of a table in batches, read as they are taken. */
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly ArchiveRow[]>;
  close(): Promise<void>;
}

/** What a value takes up in an archive, roughly. */
export function bytesOf(value: ArchiveValue): number {
  if (typeof value === 'string') return value.length + 3;
  return value instanceof Uint8Array ? Math.ceil((value.length * 4) / 3) + 9 : 8;
}
