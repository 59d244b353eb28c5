import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type DatabaseIntrospector,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  type KyselyProps,
  type QueryCompiler,
  type QueryExecutor,
  type QueryResult,
} from 'kysely';
import type { DatabaseKind } from './dialect.ts';
import type { Integrity } from './integrity/integrity.ts';
import type { Defer, Execute, ReadTogether } from './run-statement.ts';
import type { Schema } from './schema.ts';

export type { BoundStatement, Defer, Execute, ReadTogether } from './run-statement.ts';

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
  readonly kind: DatabaseKind;
  /** What marks the rows that are written; absent while the schema is being changed. */
  readonly integrity?: Integrity | undefined;
  /** Rows that this transaction holds, as they are in it, by their keys. */
  readonly held: Map<string, Readonly<Record<string, unknown>>>;
  /** Brings digests of sets up to date, which this transaction has changed: before they are read in it, and before it commits. */
  settle?: () => Promise<void>;
  /** Hears of marked rows of sets as this transaction writes them, and of what was in their place. */
  putInSet?: (
    table: string,
    row: Readonly<Record<string, unknown>>,
    before?: Readonly<Record<string, unknown>>,
  ) => void;
}

/**
 * A Kysely handle over one way to run a statement. Each transaction of PostgreSQL has its own, so it is made of what is
 * already there. Transactions are opened by the storage itself, never through the handle: on SQLite many units share one,
 * on PostgreSQL its statements are pipelined.
 */
class Handle extends Kysely<Schema> {
  readonly statements: StatementDriver;

  constructor(statements: StatementDriver) {
    const { props, executor } = sharedOf(statements.flavour);
    const connection: DatabaseConnection = {
      executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> =>
        (await statements.execute(sql, parameters, undefined)) as QueryResult<R>,
      streamQuery: refuseStream,
    };
    const provider: ConnectionProvider = { provideConnection: (consumer) => consumer(connection) };
    super({ ...props, executor: executor.withConnectionProvider(provider) });
    this.statements = statements;
  }
}

/** How a handle runs statements; what is compiled already needs nothing of Kysely. */
export function driverOf(db: Kysely<Schema>): StatementDriver {
  if (!(db instanceof Handle)) throw new Error('the handle was not made by kyselyOver');
  return db.statements;
}

/** Whatever runs through a handle with an integrity is verified and marked by it. */
export function kyselyOver(
  kind: DatabaseKind,
  flavour: Flavour,
  execute: Execute,
  { defer, readTogether, integrity }: Pick<StatementDriver, 'defer' | 'readTogether' | 'integrity'> = {},
): Kysely<Schema> {
  const common = { kind, flavour, integrity, held: new Map() };
  if (integrity === undefined) return new Handle({ ...common, execute, defer, readTogether });
  return new Handle({
    ...common,
    execute: integrity.over(execute),
    defer: defer && integrity.overDeferred(defer),
    readTogether: readTogether && integrity.overReads(readTogether),
  });
}

interface Shared {
  readonly props: Omit<KyselyProps, 'executor'>;
  readonly executor: QueryExecutor;
}

/** What handles of one flavour have in common. */
const shared = new Map<Flavour, Shared>();

function sharedOf(flavour: Flavour): Shared {
  let known = shared.get(flavour);
  if (known === undefined) {
    known = share(flavour);
    shared.set(flavour, known);
  }
  return known;
}

function share(flavour: Flavour): Shared {
  const driver: Driver = {
    init: async () => {},
    acquireConnection: refuse,
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
  const executor = new DefaultQueryExecutor(flavour.createQueryCompiler(), flavour.createAdapter(), {
    provideConnection: refuse,
  });
  return { props: { config: { dialect }, driver, dialect }, executor };
}

async function refuse(): Promise<never> {
  throw new Error('open transactions through Storage.write');
}

// biome-ignore lint/correctness/useYield: rows are never streamed, and the interface asks for a generator.
async function* refuseStream(): AsyncIterableIterator<never> {
  throw new Error('streaming is not supported');
}
