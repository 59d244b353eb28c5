import type { Kysely } from 'kysely';
import { ApiError } from '../lib/errors.ts';
import { type Execute, kyselyOver } from './connection-dialect.ts';
import { Fence } from './fence.ts';
import type { Integrity } from './integrity/integrity.ts';
import { Revisions } from './revisions.ts';
import type { Schema } from './schema.ts';
import type { SqliteFile, SqliteStatement } from './sqlite-driver.ts';
import { executeOn, flavour, translate, unavailable } from './sqlite-execute.ts';
import { DurableLog, type LogFile } from './sqlite-log.ts';
import type { PoolLoad, Storage, WriteOptions } from './storage.ts';
import { type DataModel, openReadStores, openStores, type Stores } from './stores.ts';

/** How many units may share one commit; bounds the wait of the first. */
const UNITS_PER_COMMIT = 128;
/** So many turns of the event loop a commit waits for more units, while each turn brings some. */
const TURNS_WAITED = 3;
/** Once a unit has failed, so many commits expect it of every unit. */
const WARY_COMMITS = 64;
/** Far more than admission lets in: a bound for what the service asks of itself. */
const UNITS_WAITING_MAX = 10_000;
/** How often what was kept and is no longer true is dropped. */
const FORGETTING_MS = 60_000;
/** Whatever else a reader might ask for goes to the connection that cannot write. */
const SELECTS = /^select /;

interface Unit {
  readonly isRepeatable: boolean;
  run(): Promise<void>;
  /** Called when the unit's writes are durable. */
  acknowledge(): void;
  fail(error: unknown): void;
}

/** How a unit ended. */
interface End {
  readonly unit: Unit;
  readonly error?: unknown;
}

function tell(end: End): void {
  if ('error' in end) end.unit.fail(end.error);
  else end.unit.acknowledge();
}

interface Opened {
  readonly lock: SqliteFile;
  readonly writer: SqliteFile;
  readonly reader: SqliteFile;
  readonly db: Kysely<Schema>;
  readonly log: LogFile;
  readonly dataModel: DataModel;
  readonly integrity: Integrity;
  readonly onLogFailure: (error: unknown) => void;
  /** Moves the log into the database file, before that is closed. */
  readonly foldLog: () => void;
}

/** One connection that writes, for all units one after the other, and one that reads (docs/decisions/0002). */
export class SqliteStorage implements Storage {
  readonly kind = 'sqlite';
  readonly integrity: Integrity;
  readonly fence = new Fence();
  readonly read;
  readonly #lock: SqliteFile;
  readonly #writer: SqliteFile;
  readonly #reader: SqliteFile;
  readonly #log: DurableLog;
  readonly #foldLog: () => void;
  readonly #stores: ReturnType<typeof openStores>;
  readonly #revisions: Revisions;
  readonly #queue: Unit[] = [];
  readonly #control: Record<'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'undo', SqliteStatement>;
  /** How many commits still put each unit into a savepoint. */
  #waryFor = 0;
  #scheduled = false;
  /** Whether a transaction is open. */
  #isWriting = false;
  /** Commits that nobody has been told of, because the disk does not have them yet. */
  readonly #untold = new Set<Promise<void>>();
  /** What is no longer true leaves the memory too. */
  readonly #forgetting: NodeJS.Timeout;
  #closed = false;

  constructor({ lock, writer, reader, db, log, dataModel, integrity, onLogFailure, foldLog }: Opened) {
    this.integrity = integrity;
    this.#lock = lock;
    this.#writer = writer;
    this.#reader = reader;
    this.#log = new DurableLog(log, onLogFailure);
    this.#foldLog = foldLog;
    this.#control = {
      begin: writer.prepare('BEGIN IMMEDIATE'),
      commit: writer.prepare('COMMIT'),
      rollback: writer.prepare('ROLLBACK'),
      savepoint: writer.prepare('SAVEPOINT unit'),
      release: writer.prepare('RELEASE unit'),
      undo: writer.prepare('ROLLBACK TO unit'),
    };
    this.#revisions = new Revisions(writer, dataModel.tables);
    const revisions = this.#revisions;
    this.#forgetting = setInterval(() => revisions.forgetOld(), FORGETTING_MS).unref();
    const readDb = kyselyOver('sqlite', flavour, this.#executeRead(), { integrity });
    this.read = openReadStores({ db: readDb, kind: 'sqlite', revisions }, dataModel);
    this.#stores = openStores({ db, kind: 'sqlite', revisions }, dataModel, nestedSavepoint(writer));
  }

  /**
   * Nobody is told of what the disk does not have, so an answer waits for the commits that were there when it was read. While
   * nothing is being written, reads use the writing connection: it knows its pages, and the other would look for changes.
   */
  #executeRead(): Execute {
    const aside = executeOn(this.#reader);
    const here = executeOn(this.#writer);
    return (sql, parameters) => {
      this.#requireLog();
      const execute = this.#isWriting || !SELECTS.test(sql) ? aside : here;
      const result = execute(sql, parameters);
      return this.#log.isDurable ? result : this.#afterSync(result);
    };
  }

  async #afterSync<T>(result: T): Promise<T> {
    await this.#synced();
    return result;
  }

  async #synced(): Promise<void> {
    try {
      await this.#log.whenDurable();
    } catch (error) {
      throw unavailable(error);
    }
  }

  #requireLog(): void {
    const { failure } = this.#log;
    if (failure !== undefined) throw unavailable(failure);
  }

  /** Writes queue for the one connection that writes. */
  get load(): readonly PoolLoad[] {
    const busy = this.#scheduled ? 1 : 0;
    return [{ pool: 'write', connections: 1, busy, waiting: this.#queue.length, timeouts: 0 }];
  }

  write<T>(unit: (store: Stores) => Promise<T>, { isRepeatable = false, of }: WriteOptions = {}): Promise<T> {
    const refusal = of && this.fence.refusalFor(of);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (this.#closed)
      return Promise.reject(new ApiError('UNAVAILABLE', 'the service is stopping', { retryAfterSeconds: 1 }));
    if (this.#queue.length >= UNITS_WAITING_MAX)
      return Promise.reject(new ApiError('UNAVAILABLE', 'too many writes wait', { retryAfterSeconds: 1 }));
    if (this.#log.failure !== undefined) return Promise.reject(unavailable(this.#log.failure));
    return new Promise<T>((resolve, reject) => {
      let value: T;
      this.#queue.push({
        isRepeatable,
        run: async () => {
          this.#stores.begin();
          value = await unit(this.#stores.stores);
          await this.#stores.end();
        },
        acknowledge: () => resolve(value),
        fail: reject,
      });
      this.#schedule();
    });
  }

  /** Starts after the current round of I/O callbacks, so that requests that arrived together share a commit. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#moreUnits();
      await this.#commitTogether(this.#queue.splice(0, UNITS_PER_COMMIT));
    }
    // No await since the queue was seen empty, so that nothing can have been queued unnoticed.
    this.#scheduled = false;
  }

  /** Most of what a commit costs is the same for one unit and for twenty, and a busy service brings them in several turns. */
  async #moreUnits(): Promise<void> {
    for (let turn = 0, seen = 0; turn < TURNS_WAITED; turn += 1) {
      if (this.#queue.length === seen || this.#queue.length >= UNITS_PER_COMMIT) return;
      seen = this.#queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /**
   * Runs units one after the other in one transaction, and acknowledges them after the commit. Where one fails, what the
   * others wrote is undone with it, and they run once more, each in a savepoint: units may always run again.
   */
  async #commitTogether(units: readonly Unit[]): Promise<void> {
    try {
      if (this.#waryFor === 0) {
        if (await this.#commitAll(units)) return;
        this.#waryFor = WARY_COMMITS;
      } else this.#waryFor -= 1;
      await this.#commitEach(units);
    } catch (error) {
      this.#rollBack();
      for (const unit of units) unit.fail(translate(error));
    }
  }

  /** False if a unit failed: then nothing was written. */
  async #commitAll(units: readonly Unit[]): Promise<boolean> {
    this.#begin();
    try {
      for (const unit of units) await unit.run();
    } catch (error) {
      // A full disk or an I/O error makes SQLite roll the whole transaction back by itself.
      if (!this.#writer.isInTransaction) throw error;
      this.#rollBack();
      const [only] = units;
      if (only === undefined || units.length > 1) return false;
      // It failed on nothing that could have been another's in this transaction.
      this.#tell([{ unit: only, error }]);
      return true;
    }
    this.#commit(units);
    this.#tell(units.map((unit) => ({ unit })));
    return true;
  }

  #begin(): void {
    this.#requireLog();
    this.#control.begin.run();
    this.#isWriting = true;
    this.#revisions.begun();
  }

  #commit(units: readonly Unit[]): void {
    this.#control.commit.run();
    this.#isWriting = false;
    this.#revisions.committed();
    // What may be repeated is synced with the next other commit.
    if (!units.every((unit) => unit.isRepeatable)) this.#log.committed();
  }

  #rollBack(): void {
    const isOpen = this.#writer.isInTransaction;
    if (isOpen) this.#control.rollback.run();
    this.#isWriting = false;
    this.#revisions.rolledBack(isOpen);
  }

  /** Tells how units ended as soon as the disk has what was committed until now: it is what they found, too. */
  #tell(ends: readonly End[]): void {
    if (this.#log.isDurable) {
      for (const end of ends) tell(end);
      return;
    }
    const told = this.#synced().then(
      () => {
        for (const end of ends) tell(end);
      },
      (error: unknown) => {
        for (const { unit } of ends) unit.fail(error);
      },
    );
    this.#untold.add(told);
    void told.then(() => this.#untold.delete(told));
  }

  async #commitEach(units: readonly Unit[]): Promise<void> {
    const { savepoint, release, undo } = this.#control;
    // What a unit failed on may be another unit's write, so failures too are told only after the commit.
    const ends: End[] = [];
    this.#begin();
    for (const unit of units) {
      savepoint.run();
      try {
        await unit.run();
        release.run();
        ends.push({ unit });
      } catch (error) {
        if (!this.#writer.isInTransaction) throw error;
        undo.run();
        release.run();
        ends.push({ unit, error });
      }
    }
    this.#commit(units);
    this.#tell(ends);
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#scheduled) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(this.#untold);
    clearInterval(this.#forgetting);
    await this.#log.close();
    // Closing the last connection moves the log into the database file, which is not for one that could not be synced.
    if (this.#log.failure === undefined) {
      this.#reader.close();
      this.#foldLog();
      this.#writer.close();
    }
    this.#lock.close();
  }
}

function nestedSavepoint(writer: SqliteFile) {
  return async <T>(inner: () => Promise<T>): Promise<T> => {
    writer.exec('SAVEPOINT effect');
    try {
      const value = await inner();
      writer.exec('RELEASE effect');
      return value;
    } catch (error) {
      if (writer.isInTransaction) writer.exec('ROLLBACK TO effect; RELEASE effect');
      throw error;
    }
  };
}
