import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Schema } from './schema.ts';

/**
 * Runs one compiled statement. `name` is set for statements that are worth preparing on the server. A database in the same
 * process answers at once, without a promise, and throws at once.
 */
export type Execute = (
  sql: string,
  parameters: readonly unknown[],
  name: string | undefined,
) => QueryResult<unknown> | Promise<QueryResult<unknown>>;

/** A statement with its values. */
export interface BoundStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly name: string | undefined;
}

/**
 * Runs short statements that only read, in their order, where the database is far: they travel together, and with those that
 * others ask for at that moment (docs/decisions/0056).
 */
export type ReadTogether = (reads: readonly BoundStatement[]) => Promise<readonly QueryResult<unknown>[]>;

/**
 * The same without an answer, where the database is far: the statement is on its way by the end of the transaction, which
 * then fails with what `explain` makes of its failure (docs/decisions/0053).
 */
export type Defer = (
  sql: string,
  parameters: readonly unknown[],
  name: string | undefined,
  explain?: (error: unknown) => unknown,
) => void;

/** What differs between the two databases as far as Kysely is concerned. */
export interface Flavour {
  createAdapter(): DialectAdapter;
  createQueryCompiler(): QueryCompiler;
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector;
}

interface StatementDriver {
  readonly execute: Execute;
  readonly flavour: Flavour;
  /** Only inside a transaction, and where to wait costs something. */
  readonly defer?: Defer | undefined;
  /** Only outside of transactions, and where to wait costs something. */
  readonly readTogether?: ReadTogether | undefined;
}

const drivers = new WeakMap<Kysely<Schema>, StatementDriver>();

/** How a handle runs statements; what is compiled already needs nothing of Kysely. */
export function driverOf(db: Kysely<Schema>): StatementDriver {
  const driver = drivers.get(db);
  if (driver === undefined) throw new Error('the handle was not made by kyselyOver');
  return driver;
}

/**
 * A Kysely handle over one way to run a statement. Transactions are opened by the storage itself, never through the
 * handle: on SQLite many units share one, on PostgreSQL its statements are pipelined.
 */
export function kyselyOver(
  flavour: Flavour,
  execute: Execute,
  { defer, readTogether }: Pick<StatementDriver, 'defer' | 'readTogether'> = {},
): Kysely<Schema> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> =>
      (await execute(query.sql, query.parameters, undefined)) as QueryResult<R>,
    // biome-ignore lint/correctness/useYield: rows are never streamed, and the interface asks for a generator.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('streaming is not supported');
    },
  };
  const refuse = async (): Promise<never> => {
    throw new Error('open transactions through Storage.write');
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  };
  const dialect: Dialect = {
    createAdapter: () => flavour.createAdapter(),
    createDriver: () => driver,
    createQueryCompiler: () => flavour.createQueryCompiler(),
    createIntrospector: (db) => flavour.createIntrospector(db as Kysely<unknown>),
  };
  const db = new Kysely<Schema>({ dialect });
  drivers.set(db, { execute, flavour, defer, readTogether });
  return db;
}
