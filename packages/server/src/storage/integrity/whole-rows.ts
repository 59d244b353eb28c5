import { type Kysely, type RawBuilder, sql } from 'kysely';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import { type QuickStatement, quickStatement } from '../statement.ts';
import type { MarkedTable } from './marked-table.ts';

type Build<Values, Row> = (db: Kysely<Schema>, columns: RawBuilder<unknown>, values: Values) => RawBuilder<Row>;

/**
 * A statement that answers with whole rows of a marked table. PostgreSQL keeps its plan: unlike `*`, the columns that the table
 * had when the database was opened stay the same when a newer version of the service adds one. Databases of one process may
 * differ, so each has a statement of its own.
 */
export function wholeRows<Values extends Record<string, unknown>, Row>(
  name: string,
  table: keyof Schema & string,
  build: Build<Values, Row>,
): QuickStatement<Values, Row> {
  const made = new WeakMap<MarkedTable, QuickStatement<Values, Row>>();
  const of = (db: Kysely<Schema>): QuickStatement<Values, Row> => {
    const marked = driverOf(db).integrity?.tables.get(table);
    if (marked === undefined) throw new Error(`rows of ${table} have no marks`);
    let found = made.get(marked);
    if (found === undefined) {
      const columns = sql.join(marked.all.map((column) => sql.ref(column)));
      found = quickStatement(name, (handle, values: Values) => build(handle, columns, values));
      made.set(marked, found);
    }
    return found;
  };
  return Object.assign((db: Kysely<Schema>, values: Values) => of(db)(db, values), {
    of: (values: Values) => ({ bind: (db: Kysely<Schema>) => of(db).of(values).bind(db) }),
  });
}
