import { type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import pg from 'pg';
import { ApiError } from '../lib/errors.ts';
import { StartError } from '../lib/start-error.ts';
import { type Execute, kyselyOver } from './connection-dialect.ts';
import { migrate } from './migrate.ts';
import type { Storage, WriteOptions } from './storage.ts';
import { openReadStores, openStores, type Stores } from './stores.ts';
import { uniqueViolation } from './unique.ts';

const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_MS = 15_000;
const ATTEMPTS_MAX = 5;
/** Session-independent lock number for migrations and bootstrap. */
const ADMIN_LOCK = 4_715_820_031;

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly nowMs: number;
  readonly onIdleError: (error: Error) => void;
}

// Times and counters are bigint; they stay far below 2^53 and are numbers everywhere in this program.
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? toSafeInteger : pg.types.getTypeParser(oid, format as 'text'),
};

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`database integer out of range: ${text}`);
  return value;
}

const flavour = {
  createAdapter: () => new PostgresAdapter(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
};

export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // For a server that neither answers nor hangs up; later than its own time-out.
    query_timeout: STATEMENT_TIMEOUT_MS + 3000,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'custos',
    keepAlive: true,
    types,
    // Statements of a transaction that do not wait for each other travel together.
    ...{ pipeline: true },
  } as pg.PoolConfig);
  pool.on('error', options.onIdleError);
  // A client in use has no listener of the pool, and an 'error' that nobody hears ends the process. Its statements fail too.
  pool.on('connect', (client) => client.on('error', () => {}));
  const storage = new PostgresStorage(pool);
  try {
    await storage.migrate(options.nowMs);
    return storage;
  } catch (error) {
    await pool.end().catch(() => {});
    if (error instanceof StartError) throw error;
    const reason = error instanceof ApiError ? (error.cause as Error | undefined) : (error as Error);
    throw new StartError(`cannot use the PostgreSQL database: ${describe(reason)}`);
  }
}

/** An AggregateError (several addresses refused) has an empty message of its own. */
function describe(error: Error | undefined): string {
  if (error instanceof AggregateError) return error.errors.map((inner: Error) => inner.message).join('; ');
  return error?.message || String(error);
}

function executeOn(client: pg.Pool | pg.PoolClient): Execute {
  return async (text, values, name): Promise<QueryResult<unknown>> => {
    try {
      const query = name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
      const result = await client.query(query);
      return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
    } catch (error) {
      throw translate(error);
    }
  };
}

class Retry extends Error {}

function translate(error: unknown): unknown {
  if (error instanceof ApiError || error instanceof Retry || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === '23505') {
    const constraint = 'constraint' in error ? String(error.constraint) : undefined;
    return uniqueViolation(constraint, undefined, error) ?? error;
  }
  // Serialization failure and deadlock: the transaction did nothing and may simply run again.
  if (code === '40001' || code === '40P01') return new Retry(error.message, { cause: error });
  if (isUnavailable(code, error)) {
    return new ApiError('UNAVAILABLE', 'the database is not available', { retryAfterSeconds: 1, cause: error });
  }
  return error;
}

function isUnavailable(code: string, error: Error): boolean {
  // Class 08 connection, 53 resources, 57P0x shutdown and start-up, 25006 read-only standby, 57014 and 25P03 time-outs; 25P02 is the echo of one on the
  // statements that travelled behind it.
  if (/^(08|53|57P0|25006|57014|25P0[234]|55P03|58)/.test(code)) return true;
  if (/^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_)/.test(code)) return true;
  if (error instanceof AggregateError) return true;
  return /Connection terminated|timeout exceeded when trying to connect|not queryable|Query read timeout|Cannot use a pool/i.test(
    error.message,
  );
}

class PostgresStorage implements Storage {
  readonly kind = 'postgres';
  readonly read;
  readonly #pool: pg.Pool;
  readonly #stores = new WeakMap<pg.PoolClient, ReturnType<typeof openStores>>();
  /** Units that were accepted and are not done; a stop waits for them. */
  readonly #pending = new Set<Promise<unknown>>();
  #closed = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.read = openReadStores(kyselyOver(flavour, executeOn(pool)), 'postgres');
  }

  async migrate(nowMs: number): Promise<void> {
    const client = await this.#connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT pg_advisory_xact_lock($1)', [ADMIN_LOCK]);
      await migrate(kyselyOver(flavour, executeOn(client)), 'postgres', nowMs);
      await client.query('COMMIT');
    } finally {
      client.release(true);
    }
  }

  async write<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) throw new ApiError('UNAVAILABLE', 'the service is stopping', { retryAfterSeconds: 1 });
    const done = this.#attempts(unit, options);
    this.#pending.add(done);
    try {
      return await done;
    } finally {
      this.#pending.delete(done);
    }
  }

  async #attempts<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transaction(unit, options);
      } catch (error) {
        if (!(error instanceof Retry)) throw error;
        if (attempt === ATTEMPTS_MAX) {
          throw new ApiError('UNAVAILABLE', 'the database is busy, try again', { retryAfterSeconds: 1, cause: error });
        }
      }
    }
  }

  async #transaction<T>(unit: (store: Stores) => Promise<T>, { isRepeatable }: WriteOptions): Promise<T> {
    const client = await this.#connect();
    let broken = false;
    try {
      // Not awaited: it travels with the unit's first statement. Its own failure surfaces there.
      const begun = client.query(isRepeatable ? 'BEGIN; SET LOCAL synchronous_commit TO off' : 'BEGIN');
      begun.catch(() => {});
      const value = await unit(this.#storesOn(client));
      await begun;
      await client.query('COMMIT');
      return value;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {
        broken = true;
      });
      throw translate(error);
    } finally {
      client.release(broken);
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw translate(error);
    }
  }

  #storesOn(client: pg.PoolClient): Stores {
    let opened = this.#stores.get(client);
    if (opened === undefined) {
      opened = openStores(kyselyOver(flavour, executeOn(client)), 'postgres', nestedSavepoint(client));
      this.#stores.set(client, opened);
    }
    opened.begin();
    return opened.stores;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#pending);
    await this.#pool.end();
  }
}

function nestedSavepoint(client: pg.PoolClient) {
  return async <T>(inner: () => Promise<T>): Promise<T> => {
    await client.query('SAVEPOINT effect');
    try {
      const value = await inner();
      await client.query('RELEASE SAVEPOINT effect');
      return value;
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT effect');
      throw error;
    }
  };
}
