import {
  type CompiledQuery,
  type InsertQueryBuilder,
  type InsertResult,
  type InsertType,
  type Kysely,
  type QueryResult,
  sql,
} from 'kysely';
import { chunks } from '../lib/collections.ts';
import { sha256Hex } from '../lib/encoding.ts';
import { together } from '../lib/together.ts';
import { type BoundStatement, driverOf, type Flavour } from './connection-dialect.ts';
import { tellSet } from './integrity/tell-set.ts';
import type { Schema } from './schema.ts';

/** PostgreSQL cuts names off at 63 bytes. */
const NAME_MAX = 44;
/** More rows in one statement may be more parameters than a database takes. */
const ROWS_PER_INSERT = 500;

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A query, or a piece of SQL. */
interface Compilable<Row> {
  compile(db: Kysely<Schema>): CompiledQuery<Row>;
}

/** A statement that is built once per dialect and then only bound to values. */
export type Statement<Values, Row> = (db: Kysely<Schema>, values: Values) => Promise<Row[]>;

interface Compiled {
  /** Under which PostgreSQL keeps it; another text never has it, also where versions or processes share a connection. */
  readonly name: string | undefined;
  readonly sql: string;
  readonly constants: readonly unknown[];
  /** For each parameter the name of its value, or undefined for a constant. */
  readonly slots: readonly (string | undefined)[];
}

/**
 * Building and compiling a query costs more than running it, so the statements of every request are made once.
 * `name` also makes PostgreSQL keep the plan.
 */
export function statement<Values extends Record<string, unknown>, Row>(
  name: string | undefined,
  build: (db: Kysely<Schema>, values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  return rowsOf(runner(name, build));
}

/** One of several statements that are asked together. */
interface Question<Row> {
  readonly bind: (db: Kysely<Schema>) => BoundStatement;
  /** What its rows are; never set. */
  readonly row?: Row;
}

export interface QuickStatement<Values, Row> extends Statement<Values, Row> {
  /** For `ask`. */
  readonly of: (values: Values) => Question<Row>;
}

/** The same for a short reading: outside of transactions, PostgreSQL gets those of one turn together (docs/decisions/0056). */
export function quickStatement<Values extends Record<string, unknown>, Row>(
  name: string | undefined,
  build: (db: Kysely<Schema>, values: Values) => Compilable<Row>,
): QuickStatement<Values, Row> {
  const bind = binder(name, build);
  const run: Run<Values> = (db, values) => {
    const { execute, readTogether } = driverOf(db);
    const bound = bind(db, values);
    if (readTogether !== undefined) return readTogether([bound]).then(([answer]) => answer as QueryResult<unknown>);
    return execute(bound.sql, bound.parameters, bound.name);
  };
  return Object.assign(rowsOf<Values, Row>(run), {
    of: (values: Values): Question<Row> => ({ bind: (db) => bind(db, values) }),
  });
}

type RowsOf<Questions> = {
  -readonly [Index in keyof Questions]: Questions[Index] extends Question<infer R> ? R[] : never;
};

/** The rows of each, asked in this order: the last one sees what was committed before the first, or later. */
export async function ask<Questions extends readonly Question<unknown>[]>(
  db: Kysely<Schema>,
  questions: readonly [...Questions],
): Promise<RowsOf<Questions>> {
  const { execute, readTogether } = driverOf(db);
  const reads = questions.map(({ bind }) => bind(db));
  const answers =
    readTogether === undefined
      ? await together(reads.map(async ({ sql, parameters, name }) => execute(sql, parameters, name)))
      : await readTogether(reads);
  return answers.map(({ rows }) => rows) as RowsOf<Questions>;
}

/** The same for what answers with no rows: with the number of those that it changed. */
export function change<Values extends Record<string, unknown>>(
  name: string,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
): (db: Kysely<Schema>, values: Values) => Promise<number> {
  const run = runner(name, build);
  return async (db, values) => {
    const done = run(db, values);
    return Number((done instanceof Promise ? await done : done).numAffectedRows ?? 0n);
  };
}

/**
 * The same for what nobody needs an answer of. PostgreSQL gets it with the next statement that is waited for, or with the
 * commit, and the transaction fails if it does: whatever else must hold, the database has to refuse by itself
 * (docs/decisions/0053).
 */
export function deferred<Values extends Record<string, unknown>>(
  name: string,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
): (db: Kysely<Schema>, values: Values) => Promise<void> {
  const bind = binder(name, build);
  return async (db, values) => {
    const { execute, defer } = driverOf(db);
    const { sql, parameters, name: unique } = bind(db, values);
    if (defer !== undefined) defer(sql, parameters, unique);
    else await execute(sql, parameters, unique);
  };
}

/**
 * The same for what selects all columns: PostgreSQL keeps no plan of it, which would fail once a newer version of the service
 * adds a column. What runs often names its columns instead (`wholeRows`).
 */
export function unnamed<Values extends Record<string, unknown>, Row>(
  build: (db: Kysely<Schema>, values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  return rowsOf(runner(undefined, build));
}

/**
 * Statements that differ in a few ways, such as the table. Each is made when its variant is first asked for; there must be
 * few, and what clients send must not be among what tells them apart. They have no names.
 */
export function variants<Values extends Record<string, unknown>, Row>(
  build: (db: Kysely<Schema>, values: Values, variant: string) => Compilable<Row>,
): (variant: string) => Statement<Values, Row> {
  const made = new Map<string, Statement<Values, Row>>();
  return (variant) => {
    let found = made.get(variant);
    if (found === undefined) {
      found = unnamed((db, values: Values) => build(db, values, variant));
      made.set(variant, found);
    }
    return found;
  };
}

/** Those that the database does not fill in by itself. */
type Column<Table extends keyof Schema> = {
  [Name in keyof Schema[Table]]: undefined extends InsertType<Schema[Table][Name]> ? never : Name;
}[keyof Schema[Table]] &
  string;

/** A row with every column, also those that are null. */
export type NewRow<Table extends keyof Schema> = {
  readonly [Name in Column<Table>]: InsertType<Schema[Table][Name]>;
};

/** What a list of columns has to be besides: nothing, or what it cannot be because some are missing. */
type Complete<Table extends keyof Schema, Columns extends readonly string[]> = [
  Exclude<Column<Table>, Columns[number]>,
] extends [never]
  ? unknown
  : { readonly missing: Exclude<Column<Table>, Columns[number]> };

/** Adds to an insert: what happens on a conflict. `marks` has the column with the mark of a row, if there is one. */
type Extend<Table extends keyof Schema> = (
  query: InsertQueryBuilder<Schema, Table, InsertResult>,
  marks: readonly string[],
) => Compilable<unknown>;

type Insert<Table extends keyof Schema, Answer> = (
  db: Kysely<Schema>,
  rows: readonly NewRow<Table>[],
) => Promise<Answer>;

/**
 * Inserts rows into a table, and answers how many it did. One row is bound to a statement that is made once; for several,
 * one is built. The list must have every column of the table.
 */
export function insertion<Table extends keyof Schema, const Columns extends readonly Column<Table>[]>(
  name: string,
  table: Table,
  columns: Columns & Complete<Table, Columns>,
  extend: Extend<Table> = (query) => query,
): Insert<Table, number> {
  return inserter(table, columns, extend, (build) => change(name, build));
}

/** The same for a row that nobody waits for, see `deferred`; several are waited for. */
export function deferredInsertion<Table extends keyof Schema, const Columns extends readonly Column<Table>[]>(
  name: string,
  table: Table,
  columns: Columns & Complete<Table, Columns>,
  extend: Extend<Table> = (query) => query,
): Insert<Table, unknown> {
  return inserter<Table, unknown>(table, columns, extend, (build) => deferred(name, build));
}

/**
 * The same for rows that take the place of those with the same key; the key must be a unique index. Where the key is all that
 * a row has, its mark alone is replaced.
 */
export function replacement<Table extends keyof Schema, const Columns extends readonly Column<Table>[]>(
  name: string,
  table: Table,
  key: readonly Columns[number][],
  columns: Columns & Complete<Table, Columns>,
): Insert<Table, number> {
  const others = columns.filter((column) => !key.includes(column));
  const extend: Extend<Table> = (query, marks) =>
    query.onConflict((conflict) => {
      const replaced = [...others, ...marks].map((column) => [column, sql.ref(`excluded.${column}`)]);
      return conflict.columns(key as never).doUpdateSet(Object.fromEntries(replaced));
    });
  return inserter(table, columns, extend, (build) => change(name, build));
}

type Values = Readonly<Record<string, unknown>>;
type Make<Answer> = (
  build: (db: Kysely<Schema>, row: Values) => Compilable<unknown>,
) => (db: Kysely<Schema>, row: Values) => Promise<Answer>;

/** The column for the mark of a row, where rows of the table have one. */
function marksOf(db: Kysely<Schema>, table: string): readonly string[] {
  const marked = driverOf(db).integrity?.tables.get(table);
  return marked === undefined ? [] : [marked.mark];
}

/**
 * Every row that is inserted by its columns passes here. On SQLite one row is inserted OR FAIL (docs/decisions/0065): what a
 * statement with triggers has done is not kept to be undone, because nothing is done before its constraints are checked.
 */
function inserter<Table extends keyof Schema, Answer>(
  table: Table,
  columns: readonly string[],
  extend: Extend<Table>,
  make: Make<Answer>,
): Insert<Table, Answer | number> {
  const build = (
    db: Kysely<Schema>,
    into: InsertQueryBuilder<Schema, Table, InsertResult>,
    rows: readonly Values[],
  ) => {
    const marks = marksOf(db, table);
    const all = [...columns, ...marks];
    const values = rows.map((row) => Object.fromEntries(all.map((column) => [column, row[column] ?? null])));
    return extend(into.values(values as never), marks);
  };
  const insertOne = make((db, row) => {
    const into = db.insertInto(table);
    return build(db, driverOf(db).kind === 'sqlite' ? into.orFail() : into, [row]);
  });
  return async (db, rows) => {
    const { integrity } = driverOf(db);
    const withMark = (row: Values): Values => {
      const marked = integrity?.marked(table, row) ?? row;
      tellSet(db, table, marked);
      return marked;
    };
    const [row] = rows;
    if (row !== undefined && rows.length === 1) return await insertOne(db, withMark(row));
    let inserted = 0;
    for (const some of chunks(rows, ROWS_PER_INSERT))
      inserted += await runOnce(db, build(db, db.insertInto(table), some.map(withMark)));
    return inserted;
  };
}

/**
 * A change of the rows with some ids, which `build` makes for as many as it is given. For one id it is made once, and nobody
 * waits for it, see `deferred`; for several it is built, for so many at a time as fit into a statement. `scope` must not
 * have an `id` of its own.
 */
export function byIds<Scope extends Values & { readonly id?: never }>(
  name: string,
  build: (db: Kysely<Schema>, scope: Scope, ids: readonly string[]) => Compilable<unknown>,
): (db: Kysely<Schema>, scope: Scope, ids: readonly string[]) => Promise<void> {
  const one = deferred(name, (db, values: Omit<Scope, 'id'> & { readonly id: string }) =>
    build(db, values as unknown as Scope, [values.id]),
  );
  return async (db, scope, ids) => {
    const [id] = ids;
    if (id !== undefined && ids.length === 1) await one(db, { ...scope, id });
    else for (const some of chunks(ids)) await runOnce(db, build(db, scope, some));
  };
}

/** Runs what is not worth keeping; answers how many rows it changed. */
async function runOnce(db: Kysely<Schema>, query: Compilable<unknown>): Promise<number> {
  const { sql, parameters } = query.compile(db);
  return Number((await driverOf(db).execute(sql, parameters, undefined)).numAffectedRows ?? 0n);
}

type Run<Values> = (db: Kysely<Schema>, values: Values) => QueryResult<unknown> | Promise<QueryResult<unknown>>;

/** Waits only where there is something to wait for. */
const rowsOf =
  <Values, Row>(run: Run<Values>): Statement<Values, Row> =>
  async (db, values) => {
    const done = run(db, values);
    return (done instanceof Promise ? await done : done).rows as Row[];
  };

function runner<Values extends Record<string, unknown>>(
  name: string | undefined,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
): Run<Values> {
  const bind = binder(name, build);
  return (db, values) => {
    const { sql, parameters, name: unique } = bind(db, values);
    return driverOf(db).execute(sql, parameters, unique);
  };
}

function binder<Values extends Record<string, unknown>>(
  name: string | undefined,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
  wrap = (text: string): string => text,
): (db: Kysely<Schema>, values: Values) => BoundStatement {
  const compiled = new Map<Flavour, Compiled>();
  const placeholders = new Proxy({}, { get: (_target, key) => new Placeholder(String(key)) }) as Values;

  return (db, values) => {
    const { flavour } = driverOf(db);
    let entry = compiled.get(flavour);
    if (entry === undefined) {
      const { sql: text, parameters } = build(db, placeholders).compile(db);
      const sql = wrap(text);
      const slots = parameters.map((value) => (value instanceof Placeholder ? value.name : undefined));
      const unique = name === undefined ? undefined : `${name.slice(0, NAME_MAX)} ${sha256Hex(sql).slice(0, 16)}`;
      entry = { name: unique, sql, constants: parameters, slots };
      compiled.set(flavour, entry);
    }
    const { sql, constants, slots, name: unique } = entry;
    const parameters = slots.map((slot, index) => (slot === undefined ? constants[index] : values[slot]));
    return { sql, parameters, name: unique };
  };
}
