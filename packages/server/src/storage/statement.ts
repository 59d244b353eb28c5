import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import { sha256Hex } from '../lib/encoding.ts';
import { together } from '../lib/together.ts';
import { type BoundStatement, driverOf, type Flavour } from './connection-dialect.ts';
import type { Schema } from './schema.ts';

/** PostgreSQL cuts names off at 63 bytes. */
const NAME_MAX = 44;

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
  name: string,
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

const DIVISION_BY_ZERO = '22012';
/** Divides by the number of rows, so that PostgreSQL refuses none. */
const refusingNone = (sql: string): string => `WITH changed AS (${sql} RETURNING 1) SELECT 1 / count(*) FROM changed`;

/** The same for what has to change a row. Where there is none, the transaction fails with `missing`. */
export function deferredChange<Values extends Record<string, unknown>>(
  name: string,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
  missing: () => Error,
): (db: Kysely<Schema>, values: Values) => Promise<void> {
  const changed = change(name, build);
  const bind = binder(name, build, refusingNone);
  const explain = (error: unknown): unknown =>
    error instanceof Error && 'code' in error && error.code === DIVISION_BY_ZERO ? missing() : error;
  return async (db, values) => {
    const { defer } = driverOf(db);
    if (defer === undefined) {
      if ((await changed(db, values)) === 0) throw missing();
      return;
    }
    const { sql, parameters, name: unique } = bind(db, values);
    defer(sql, parameters, unique, explain);
  };
}

/**
 * The same for what selects all columns: PostgreSQL keeps no plan of it, which would fail once a newer version of the service
 * adds a column.
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
