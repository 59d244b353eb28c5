import { type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { type BoundStatement, type Execute, kyselyOver, type ReadTogether } from './connection-dialect.ts';
import { Fence } from './fence.ts';
import { columnsOf } from './integrity/columns.ts';
import { Integrity } from './integrity/integrity.ts';
import { migrate } from './migrate.ts';
import { bringUp } from './postgres/bring-up.ts';
import { brokenIndex, Retry, translate, unavailable } from './postgres/errors.ts';
import { GatheredReads } from './postgres/gathered-reads.ts';
import { type OpenedDatabase, type PoolOptions, SessionPool, serverTimeoutMs } from './postgres/pool.ts';
import { pinnedSearchPath } from './postgres/search-path.ts';
import type { Borrowed, Session } from './postgres/session.ts';
import type { Schema } from './schema.ts';
import type { PoolLoad, Storage, WriteOptions } from './storage.ts';
import { type DataModel, openReadStores, openStores, type Stores } from './stores.ts';
import { Turnstile } from './turnstile.ts';
import { UniqueRules } from './unique.ts';

const ATTEMPTS_MAX = 5;
const TIMEOUT_MS = 5000;
/** Of the connections, so many are for reads alone: they go on where no commit can end. */
const READ_SHARE = 3 / 8;
/** What is known to take long gets so much more time. */
const LONG_FACTOR = 12;

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  /** The longest that a read, or a transaction with all that it waits for, may take. */
  readonly timeoutMs?: number | undefined;
  /** How long a transaction may wait until others of its organization are done; nothing of it was begun then. */
  readonly turnWaitMs?: number | undefined;
  /** How long a database that is away at the start is waited for. */
  readonly waitMs?: number | undefined;
  readonly dataModel: DataModel;
  readonly nowMs: number;
  readonly onIdleError: (error: Error) => void;
  /** Hears what the start waits for. */
  readonly onWaiting?: ((what: string) => void) | undefined;
  /** The service process that opens it. */
  readonly process?: AnnouncedProcess | undefined;
}

/** A process that everybody else is to know of, by the name of its row and what it says of itself. */
export interface AnnouncedProcess {
  readonly name: string;
  readonly state: string;
  /** Called in the transaction that makes it known, with the last restore of a backup into this database. */
  readonly isKnown: (restored: string | undefined) => void;
  /** Called when a new connection finds that a backup was restored since then. It serves nobody. */
  readonly onRestored: () => void;
}

/** Shared with whoever fills tables that no service uses yet. */
export const flavour = {
  createAdapter: () => new PostgresAdapter(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
};

export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { url, waitMs = 0, nowMs, onWaiting = () => {} } = options;
  const integrity = new Integrity(options.dataModel.tables);
  let searchPath: string | undefined;
  let opened: OpenedDatabase | undefined;
  await bringUp({ url, waitMs, onWaiting }, async (client) => {
    searchPath = await pinnedSearchPath(client, url);
    if (searchPath !== undefined) await client.query(`SET LOCAL search_path TO ${searchPath}`);
    const execute: Execute = async (text, values) => {
      const { rows, rowCount } = await client.query(text, [...values]);
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    };
    const db = kyselyOver('postgres', flavour, execute);
    await migrate(db, 'postgres', nowMs);
    // Whoever exchanges the tables waits for this transaction, and finds the process or is done before it begins.
    if (options.process !== undefined) opened = await announce(db, options.process);
    integrity.knowColumns(await columnsOf(db, 'postgres'));
  });
  return new PostgresStorage(options, integrity, { searchPath, opened });
}

async function announce(
  db: Kysely<Schema>,
  { name, state, isKnown, onRestored }: AnnouncedProcess,
): Promise<OpenedDatabase> {
  await db.insertInto('deployment').values({ name, value: state }).execute();
  const last = await db.selectFrom('deployment').select('value').where('name', '=', 'restored').executeTakeFirst();
  isKnown(last?.value);
  return { restored: last?.value, onRestored };
}

class PostgresStorage implements Storage {
  readonly kind = 'postgres';
  readonly integrity: Integrity;
  readonly fence = new Fence();
  readonly read;
  readonly #timeoutMs: number;
  readonly #reads: SessionPool;
  readonly #writes: SessionPool;
  readonly #quickReads: GatheredReads;
  readonly #turnWaitMs: number;
  readonly #dataModel: DataModel;
  readonly #turnstile = new Turnstile();
  /** Units that were accepted and are not done; a stop waits for them. */
  readonly #pending = new Set<Promise<unknown>>();
  #closed = false;

  constructor(
    { url, poolSize, dataModel, timeoutMs = TIMEOUT_MS, turnWaitMs = timeoutMs, onIdleError }: PostgresOptions,
    integrity: Integrity,
    place: Pick<PoolOptions, 'searchPath' | 'opened'>,
  ) {
    this.integrity = integrity;
    this.#dataModel = dataModel;
    const rules = new UniqueRules(dataModel.tables);
    const forReads = Math.max(1, Math.round(poolSize * READ_SHARE));
    const explain = (error: unknown): unknown => rules.explain(error, brokenIndex);
    const common = { url, timeoutMs, onIdleError, explain, ...place };
    this.#timeoutMs = timeoutMs;
    this.#turnWaitMs = turnWaitMs;
    this.#reads = new SessionPool('read', { ...common, size: forReads });
    this.#writes = new SessionPool('write', { ...common, size: Math.max(1, poolSize - forReads) });
    this.#quickReads = new GatheredReads(timeoutMs, (reads, deadlineMs) => this.#readTogether(reads, deadlineMs));
    const readTogether: ReadTogether = (reads) => this.#quickReads.add(reads);
    const db = kyselyOver('postgres', flavour, this.#executeRead, { readTogether, integrity });
    this.read = openReadStores({ db, kind: 'postgres' }, dataModel);
  }

  get load(): readonly PoolLoad[] {
    const write = this.#writes.load;
    return [this.#reads.load, { ...write, waiting: write.waiting + this.#turnstile.waiting }];
  }

  readonly #executeRead: Execute = async (text, values, name) => {
    const deadlineMs = performance.now() + this.#timeoutMs;
    return await this.#reads.use(deadlineMs, async (session) => await session.execute(text, values, name));
  };

  async #readTogether(reads: readonly BoundStatement[], deadlineMs: number) {
    return await this.#reads.use(deadlineMs, (session) =>
      Promise.allSettled(reads.map(async ({ sql, parameters, name }) => session.execute(sql, parameters, name))),
    );
  }

  async write<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (this.#closed) throw unavailable('the service is stopping');
    if (options.of !== undefined) this.fence.requireLifted(options.of);
    const done = this.#inTurn(unit, options);
    this.#pending.add(done);
    try {
      return await done;
    } finally {
      this.#pending.delete(done);
    }
  }

  async #inTurn<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions): Promise<T> {
    const nowMs = performance.now();
    const deadlineMs = nowMs + this.#timeoutMs * (options.isLong ? LONG_FACTOR : 1);
    const turnDeadlineMs = options.isIrrevocable ? deadlineMs : Math.min(deadlineMs, nowMs + this.#turnWaitMs);
    const leave = options.turn && (await this.#turnstile.enter(options.turn, turnDeadlineMs));
    try {
      return await this.#attempts(unit, options, deadlineMs);
    } finally {
      leave?.();
    }
  }

  async #attempts<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions, deadlineMs: number): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transaction(unit, options, deadlineMs);
      } catch (error) {
        if (!(error instanceof Retry)) throw error;
        if (attempt === ATTEMPTS_MAX) throw unavailable('the database is busy, try again', error);
      }
    }
  }

  async #transaction<T>(unit: (store: Stores) => Promise<T>, options: WriteOptions, deadlineMs: number): Promise<T> {
    const run = async (session: Session): Promise<T> => {
      try {
        this.#begin(session, options, deadlineMs - performance.now());
        const { stores, end } = this.#storesOn(session.borrowed);
        const value = await unit(stores);
        await end();
        await session.commit();
        return value;
      } catch (error) {
        await session.rollback();
        throw translate(error);
      }
    };
    return await this.#writes.use(deadlineMs, run, options.turn?.organizationId);
  }

  #begin(session: Session, { isRepeatable, isLong }: WriteOptions, leftMs: number): void {
    // What is read under a lock must be as it is once the lock is held, whatever the database has for a default.
    session.defer('BEGIN ISOLATION LEVEL READ COMMITTED', [], 'BEGIN');
    const settings: [name: string, value: string][] = [];
    if (isRepeatable) settings.push(['synchronous_commit', 'off']);
    // By itself the server would give up before or after this program does.
    if (isLong || leftMs < serverTimeoutMs(this.#timeoutMs)) {
      settings.push(['statement_timeout', String(serverTimeoutMs(leftMs))]);
    }
    for (const setting of settings) session.defer('SELECT set_config($1, $2, true)', setting, 'set_config');
  }

  /** Of this transaction alone: stores that somebody keeps are refused what comes after it. */
  #storesOn(session: Borrowed): ReturnType<typeof openStores> {
    const db = kyselyOver('postgres', flavour, session.execute, { defer: session.defer, integrity: this.integrity });
    return openStores({ db, kind: 'postgres' }, this.#dataModel, nestedSavepoint(session));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#pending);
    await Promise.all([this.#reads.end(), this.#writes.end()]);
  }
}

function nestedSavepoint({ execute, undo }: Borrowed) {
  return async <T>(inner: () => Promise<T>): Promise<T> => {
    await execute('SAVEPOINT effect', [], 'SAVEPOINT');
    try {
      const value = await inner();
      // What was deferred inside travels with it, and fails here.
      await execute('RELEASE SAVEPOINT effect', [], 'RELEASE');
      return value;
    } catch (error) {
      await undo('ROLLBACK TO SAVEPOINT effect');
      throw error;
    }
  };
}
