import { ApiError } from '../lib/errors.ts';
import type { Execute } from './connection-dialect.ts';
import type { Table, UniqueRule } from './table.ts';

/** The uniqueness rules of all tables, found by what a database says about a broken one. */
export class UniqueRules {
  readonly #byName = new Map<string, UniqueRule>();
  readonly #byColumns = new Map<string, UniqueRule>();

  constructor(tables: readonly Table[]) {
    for (const { name: table, unique = {} } of tables) {
      for (const [name, rule] of Object.entries(unique)) {
        this.#byName.set(name, rule);
        this.#byColumns.set(rule.columns.map((column) => `${table}.${column}`).join(', '), rule);
      }
    }
  }

  /**
   * The same statements, with the answer of the rule for one that broke it. `said` is what the database named:
   * PostgreSQL the index, SQLite `table.column, table.column`; undefined for every other failure.
   */
  over(execute: Execute, said: (error: unknown) => string | undefined): Execute {
    const explain = (error: unknown): never => {
      throw this.explain(error, said);
    };
    return (sql, parameters, name) => {
      try {
        const done = execute(sql, parameters, name);
        return done instanceof Promise ? done.catch(explain) : done;
      } catch (error) {
        return explain(error);
      }
    };
  }

  /** The answer of the rule that was broken, or the error as it is. */
  explain(error: unknown, said: (error: unknown) => string | undefined): unknown {
    const named = said(error);
    const rule = named === undefined ? undefined : (this.#byName.get(named) ?? this.#byColumns.get(named));
    return rule ? new ApiError(rule.code ?? 'ALREADY_EXISTS', rule.message, { cause: error }) : error;
  }
}
