import { type Kysely, type QueryResult, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { ApiError } from '../lib/errors.ts';
import { type SqliteFile, type SqliteStatement, sqliteErrorName } from './sqlite-driver.ts';

const STATEMENTS_CACHED = 1000;

export const flavour = {
  createAdapter: () => new SqliteAdapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
};

export function executeOn(db: SqliteFile) {
  const cache = new Map<string, SqliteStatement>();
  return (sql: string, parameters: readonly unknown[]): QueryResult<unknown> => {
    try {
      let statement = cache.get(sql);
      if (statement === undefined) {
        if (cache.size >= STATEMENTS_CACHED) cache.clear();
        statement = db.prepare(sql);
        cache.set(sql, statement);
      }
      if (statement.columns.length > 0) return { rows: statement.all(...parameters) };
      return { rows: [], numAffectedRows: BigInt(statement.run(...parameters)) };
    } catch (error) {
      throw translate(error);
    }
  };
}

/**
 * The same for the writing connection. SQLite ends a transaction by itself when a disk is full or fails; a statement behind
 * that one would be a transaction of its own, and stay although everybody hears that nothing was done.
 */
export function executeInside(writer: SqliteFile) {
  const execute = executeOn(writer);
  return (sql: string, parameters: readonly unknown[]): QueryResult<unknown> => {
    if (!writer.isInTransaction) throw unavailable(new Error('the transaction has ended'));
    return execute(sql, parameters);
  };
}

export const unavailable = (cause: unknown): ApiError =>
  new ApiError('UNAVAILABLE', 'the database is not available', { retryAfterSeconds: 1, cause });

export function translate(error: unknown): unknown {
  const name = sqliteErrorName(error);
  if (name === undefined || name === 'other' || name === 'unique') return error;
  return unavailable(error);
}

/** `UNIQUE constraint failed: table.column, table.column` */
export const brokenColumns = (error: unknown): string | undefined =>
  sqliteErrorName(error) === 'unique' ? (error as Error).message.split(': ')[1] : undefined;
