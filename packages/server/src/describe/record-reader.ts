import { sql } from 'kysely';
import { chunks } from '../lib/collections.ts';
import type { OrganizationId } from '../lib/ids.ts';
import { partial } from '../storage/integrity/partial.ts';
import type { Schema } from '../storage/schema.ts';
import { Reader } from '../storage/store.ts';
import { type NameKind, type NameRecords, type NameSource, nameSource } from './names.ts';

const NAMES = partial('names to be shown');

/** A column of a table that all of an organization's things stand in. */
type Row = Readonly<Record<string, unknown>>;

/** Reads rows of one organization by their ids, whatever table a domain keeps them in. */
class RecordReader extends Reader {
  async rows(
    table: keyof Schema & string,
    columns: readonly string[] | 'all',
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<Row[]> {
    const found: Row[] = [];
    const selected = columns === 'all' ? sql`*` : sql`${NAMES} ${sql.join(columns.map((column) => sql.ref(column)))}`;
    for (const some of chunks(ids)) {
      const { rows } = await sql<Row>`SELECT ${selected}
        FROM ${sql.table(table)} WHERE organization_id = ${organizationId} AND id IN (${sql.join(some)})`.execute(
        this.db,
      );
      found.push(...rows);
    }
    return found;
  }
}

/**
 * Names that stand in a table of their own, by id. `toRecord` makes the record of a row. Rows of all columns are verified,
 * which is for those that are small.
 */
export const tableSource = <Kind extends NameKind>(
  kind: Kind,
  table: keyof Schema & string,
  columns: readonly string[] | 'all',
  toRecord: (row: Row) => NameRecords[Kind],
): NameSource =>
  nameSource(kind, async ({ read, organizationId }, ids) => {
    const rows = await read(RecordReader).rows(
      table,
      columns === 'all' ? columns : ['id', ...columns],
      organizationId,
      ids,
    );
    return new Map(rows.map((row) => [row['id'] as string, toRecord(row)]));
  });
