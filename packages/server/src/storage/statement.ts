import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import { driverOf, type Flavour } from './connection-dialect.ts';
import type { Schema } from './schema.ts';

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

/** A statement that is built once per dialect and then only bound to values. */
export type Statement<Values, Row> = (db: Kysely<Schema>, values: Values) => Promise<Row[]>;

interface Compiled {
  readonly sql: string;
  readonly constants: readonly unknown[];
  /** For each parameter the name of its value, or undefined for a constant. */
  readonly slots: readonly (string | undefined)[];
}

/**
 * Building and compiling a query costs more than running it, so the statements of every request are made once.
 * `name` also makes PostgreSQL keep the plan; it must be unique.
 */
export function statement<Values extends Record<string, unknown>, Row>(
  name: string,
  build: (db: Kysely<Schema>, values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  const run = runner(name, build);
  return async (db, values) => (await run(db, values)).rows as Row[];
}

/** The same for what answers with no rows: with the number of those that it changed. */
export function change<Values extends Record<string, unknown>>(
  name: string,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
): (db: Kysely<Schema>, values: Values) => Promise<number> {
  const run = runner(name, build);
  return async (db, values) => Number((await run(db, values)).numAffectedRows ?? 0n);
}

function runner<Values extends Record<string, unknown>>(
  name: string,
  build: (db: Kysely<Schema>, values: Values) => Compilable<unknown>,
): (db: Kysely<Schema>, values: Values) => Promise<QueryResult<unknown>> {
  const compiled = new Map<Flavour, Compiled>();
  const placeholders = new Proxy({}, { get: (_target, key) => new Placeholder(String(key)) }) as Values;

  return (db, values) => {
    const { execute, flavour } = driverOf(db);
    let entry = compiled.get(flavour);
    if (entry === undefined) {
      const { sql, parameters } = build(db, placeholders).compile();
      const slots = parameters.map((value) => (value instanceof Placeholder ? value.name : undefined));
      entry = { sql, constants: parameters, slots };
      compiled.set(flavour, entry);
    }
    const { sql, constants, slots } = entry;
    const parameters = slots.map((slot, index) => (slot === undefined ? constants[index] : values[slot]));
    return execute(sql, parameters, name);
  };
}
