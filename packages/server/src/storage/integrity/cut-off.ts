import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../dialect.ts';

/**
 * Whether a row has text that is cut off when it is read: SQLite stores text with a zero byte in it, and its drivers answer with what
 * stands before that. No service writes such text, and what is read may be another row's, with that row's mark.
 */
export const isCutOff = (kind: DatabaseKind, columns: readonly string[]): RawBuilder<unknown> =>
  kind === 'postgres'
    ? sql`FALSE`
    : sql`(${sql.join(
        columns.map(
          (column) => sql`(typeof(${sql.ref(column)}) = 'text' AND instr(CAST(${sql.ref(column)} AS BLOB), x'00') > 0)`,
        ),
        sql` OR `,
      )})`;
