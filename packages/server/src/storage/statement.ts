import type { CompiledQuery, Kysely } from 'kysely';
import { statementNames } from './connection-dialect.ts';
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
  readonly query: CompiledQuery;
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
  const compiled = new Map<string, Compiled>();
  const placeholders = new Proxy({}, { get: (_target, key) => new Placeholder(String(key)) }) as Values;

  return async (db, values) => {
    const flavour = db.getExecutor().adapter.constructor.name;
    let entry = compiled.get(flavour);
    if (entry === undefined) {
      const query = build(db, placeholders).compile();
      statementNames.set(query.query, name);
      entry = {
        query,
        slots: query.parameters.map((value) => (value instanceof Placeholder ? value.name : undefined)),
      };
      compiled.set(flavour, entry);
    }
    const { query, slots } = entry;
    const parameters = query.parameters.map((constant, index) => {
      const slot = slots[index];
      return slot === undefined ? constant : values[slot];
    });
    const result = await db.executeQuery<Row>({ ...query, parameters } as CompiledQuery<Row>);
    return result.rows;
  };
}
