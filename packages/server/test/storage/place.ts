import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import pg from 'pg';
import type { Organization } from '../../src/core/model.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { dataModel } from '../../src/domains.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { RestorationFacts } from '../../src/storage/fence.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Schema } from '../../src/storage/schema.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { copyTables, createPostgresDatabase, type DatabaseKind } from '../harness/databases.ts';

// What the tests of storage share: a database, an organization in it, and rows that no store would write.

export const NOW = 1_700_000_000_000;
export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A place for a database that can be opened several times. */
export class Place implements AsyncDisposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'custos-storage-'));
  readonly databaseUrl: string | undefined;
  readonly #dispose: () => Promise<void>;
  readonly #open = new Set<Storage>();

  private constructor(databaseUrl: string | undefined, dispose: () => Promise<void>) {
    this.databaseUrl = databaseUrl;
    this.#dispose = dispose;
  }

  static async create(kind: DatabaseKind, options: { readonly isEmpty?: boolean } = {}): Promise<Place> {
    const database = kind === 'postgres' ? await createPostgresDatabase(options) : undefined;
    const place = new Place(database?.url, async () => await database?.[Symbol.asyncDispose]());
    if (database === undefined && options.isEmpty !== true) copyTables(place.dataDir);
    return place;
  }

  /** It was never restored from a backup, unless told. */
  async open(databasePool = 8, restorations: readonly RestorationFacts[] = []): Promise<Storage> {
    const storage = await openStorage({
      dataModel,
      dataDir: this.dataDir,
      databaseUrl: this.databaseUrl,
      databasePool,
      // These tests ask what is stored, on machines that are busy with others.
      databaseTimeoutSeconds: 60,
      nowMs: NOW,
      onIdleError: () => {},
    });
    storage.fence.load(restorations, new Set());
    this.#open.add(storage);
    return storage;
  }

  async close(storage: Storage): Promise<void> {
    this.#open.delete(storage);
    await storage.close();
  }

  /** Runs a statement beside the storage, as another program would. */
  async run(statement: string): Promise<void> {
    if (this.databaseUrl === undefined) {
      const file = new SqliteFile(join(this.dataDir, 'custos.db'));
      file.exec(statement);
      file.close();
      return;
    }
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const storage of this.#open) await storage.close();
    await this.#dispose();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

export const organization = (extra: Partial<Organization> = {}): Organization => ({
  id: randomId(),
  parentId: undefined,
  name: 'Organization',
  rootThreshold: 1,
  rootUserIds: [],
  authorityVersion: 1,
  rulesVersion: 1,
  wrappedKey: Uint8Array.from([0, 1, 2, 254, 255]),
  createdAtMs: NOW,
  updatedAtMs: NOW,
  deletedAtMs: undefined,
  ...extra,
});

export async function withOrganization(storage: Storage, extra: Partial<Organization> = {}): Promise<Organization> {
  const made = organization(extra);
  await storage.write((store) => store(OrganizationStore).insert(made));
  return made;
}

/** The query builder behind the stores, for rows that no store would write. */
export const builderOf = (store: Stores): Kysely<Schema> =>
  (store(OrganizationStore) as unknown as { db: Kysely<Schema> }).db;

export const codeOf = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.code : `not an ApiError: ${String(error)}`),
  );

export type Row = Record<string, unknown>;

export const insertRows = (storage: Storage, table: string, ...values: Row[]) =>
  storage.write((store) =>
    builderOf(store)
      .insertInto(table as 'tag')
      .values(values as never)
      .execute(),
  );

/** Makes rows of a table that are new in every column; columns that may be empty are, unless they are named. */
export async function rowMaker(storage: Storage, table: string, filled: readonly string[]): Promise<() => Row> {
  const tables = await storage.write((store) => builderOf(store).introspection.getTables());
  const all = tables.find((candidate) => candidate.name === table)?.columns ?? [];
  if (all.length === 0) throw new Error(`there is no table ${table}`);
  // What the database counts itself, it gives.
  const columns = all.filter(({ isAutoIncrementing }) => !isAutoIncrementing);
  const newValue = (dataType: string): unknown => {
    if (/int|numeric/i.test(dataType)) return 1;
    return /blob|bytea/i.test(dataType) ? Buffer.of(1) : randomId();
  };
  return () =>
    Object.fromEntries(
      columns.map(({ name, dataType, isNullable }) => [
        name,
        isNullable && !filled.includes(name) ? null : newValue(dataType),
      ]),
    );
}
