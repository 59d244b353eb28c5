import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import { deferred, type Statement } from '../statement.ts';
import { isDone } from './apart.ts';
import type { MarkedTable } from './marked-table.ts';
import type { Row } from './row.ts';
import { tellSet } from './tell-set.ts';
import { wholeRows } from './whole-rows.ts';

type RowOf<Table extends keyof Schema> = Selectable<Schema[Table]>;

/** The changed columns, or nothing where the row stays as it is. */
type Change<Table extends keyof Schema> = (row: RowOf<Table>) => Partial<RowOf<Table>> | undefined;

/**
 * Changes the rows that meet a condition: reads and holds them, which verifies them, and writes what changed with a new mark.
 * What somebody else wrote into a row therefore gets no mark. Answers with all that meet it, as they are then.
 */
export async function amend<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  condition: RawBuilder<unknown>,
  change: Change<Table>,
): Promise<RowOf<Table>[]> {
  const { kind } = driverOf(db);
  const lock = kind === 'postgres' ? sql`FOR NO KEY UPDATE` : sql``;
  const { rows } = await sql<RowOf<Table>>`SELECT * FROM ${sql.table(table)} WHERE ${condition} ${lock}`.execute(db);
  const amended: RowOf<Table>[] = [];
  for (const row of rows) amended.push(await write(db, table, row, change));
  return amended;
}

/** The same for rows that do not belong together: one that is not genuine is reported and left as it is. */
export async function amendEach<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  condition: RawBuilder<unknown>,
  change: Change<Table>,
): Promise<void> {
  const key = driverOf(db).integrity?.tables.get(table)?.key ?? [];
  const { rows } = await sql<Record<string, string | number>>`SELECT /* partial: each is then read whole */
    ${sql.join(key.map((column) => sql.ref(column)))} FROM ${sql.table(table)} WHERE ${condition}`.execute(db);
  for (const row of rows) await isDone(() => amendOne(db, table, row, change));
}

/** The same for the row with this key; undefined where there is none. A row that the transaction holds is not read again. */
export async function amendOne<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  key: Readonly<Record<string, string | number>>,
  change: Change<Table>,
): Promise<RowOf<Table> | undefined> {
  const row = await hold(db, table, key);
  return row === undefined ? undefined : await write(db, table, row, change);
}

/** Reads a row and keeps it from others until the transaction ends. On SQLite nobody else writes meanwhile. */
export async function hold<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  key: Readonly<Record<string, string | number>>,
): Promise<RowOf<Table> | undefined> {
  const { held } = driverOf(db);
  // Whoever holds a row names its whole key, in the order of the primary key.
  const name = nameOf(table, Object.values(key));
  const known = held.get(name);
  if (known !== undefined) return known as RowOf<Table>;
  const [row] = await holding(table, Object.keys(key))(db, key);
  if (row !== undefined) held.set(name, row as Row);
  return row as RowOf<Table> | undefined;
}

/** Tells what a transaction knows of a row that it has read and holds, so that it is not read again. */
export function keepHeld<Table extends keyof Schema>(db: Kysely<Schema>, table: Table, row: RowOf<Table>): void {
  const { held, integrity } = driverOf(db);
  const marked = integrity?.tables.get(table);
  if (marked === undefined) return;
  const key = marked.key.map((column) => (row as Row)[column]);
  held.set(nameOf(table, key), row as Row);
}

/** The mark of a row, for statements that write many by themselves; null where it has none. */
export function markOf(db: Kysely<Schema>, table: keyof Schema, row: Row): string | null {
  const { integrity } = driverOf(db);
  const marked = integrity?.tables.get(table);
  const mark = marked && integrity?.marked(table, row)[marked.mark];
  return typeof mark === 'string' ? mark : null;
}

/** Whether rows of a table have marks in this database, and whether these cover a column. */
export function isMarked(db: Kysely<Schema>, table: string, column?: string): boolean {
  const marked = driverOf(db).integrity?.tables.get(table);
  return marked !== undefined && (column === undefined || marked.columns.includes(column));
}

/** Forgets what is known of rows that are about to be deleted or replaced in another way. */
export function release(db: Kysely<Schema>, table?: keyof Schema): void {
  const { held } = driverOf(db);
  for (const name of held.keys()) if (table === undefined || name.startsWith(`${table} `)) held.delete(name);
}

const nameOf = (table: string, key: readonly unknown[]): string => `${table} ${key.join(' ')}`;

async function write<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  row: RowOf<Table>,
  change: Change<Table>,
): Promise<RowOf<Table>> {
  const changes = change(row) as Row | undefined;
  if (changes === undefined) return row;
  const { held, integrity } = driverOf(db);
  const marked = integrity?.tables.get(table);
  if (integrity === undefined || marked === undefined) throw new Error(`rows of ${table} have no mark to amend`);
  const next = integrity.marked(table, { ...(row as Row), ...changes }, row as Row);
  await updating(marked, Object.keys(changes))(db, next as Record<string, unknown>);
  tellSet(db, table, next, row as Row);
  const name = nameOf(
    table,
    marked.key.map((column) => (row as Row)[column]),
  );
  // Only what was held by its whole key is found again.
  if (held.has(name)) held.set(name, next);
  return next as RowOf<Table>;
}

type Values = Record<string, unknown>;
const holdings = new Map<string, Statement<Values, unknown>>();
const updates = new Map<string, ReturnType<typeof deferred<Values>>>();

/** They are as many as there are tables and ways to change them, and none depends on what a client sends. */
function holding(table: keyof Schema & string, key: readonly string[]) {
  const name = `${table} ${key.join()}`;
  let found = holdings.get(name);
  if (found === undefined) {
    const where = (values: Values) =>
      sql.join(
        key.map((column) => sql`${sql.ref(column)} = ${values[column]}`),
        sql` AND `,
      );
    found = wholeRows(`${table}-hold`, table, (db, columns, values: Values) => {
      const lock = driverOf(db).kind === 'postgres' ? sql`FOR NO KEY UPDATE` : sql``;
      return sql`SELECT ${columns} FROM ${sql.table(table)} WHERE ${where(values)} ${lock}`;
    });
    holdings.set(name, found);
  }
  return found;
}

function updating({ name: table, key, mark }: MarkedTable, changed: readonly string[]) {
  const name = `${table} ${changed.join()}`;
  let found = updates.get(name);
  if (found === undefined) {
    const columns = [...new Set([...changed, mark])].sort();
    found = deferred(`${table}-amend`, (db: Kysely<Schema>, values: Values) => {
      const set = sql.join(columns.map((column) => sql`${sql.ref(column)} = ${values[column]}`));
      const where = sql.join(
        key.map((column) => sql`${sql.ref(column)} = ${values[column]}`),
        sql` AND `,
      );
      // One row by its key: see `inserter` (docs/decisions/0065).
      const orFail = driverOf(db).kind === 'sqlite' ? sql`OR FAIL` : sql``;
      return sql`UPDATE ${orFail} ${sql.table(table)} SET ${set} WHERE ${where}`;
    });
    updates.set(name, found);
  }
  return found;
}
