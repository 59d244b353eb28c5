// The least that a server can do with each database: one read by key, one durable commit.
import { type FloorDatabase, openSqlite, POOL_SIZE, pg } from './drivers.ts';
import { postgresUnit, sqliteUnit, type Unit } from './unit.ts';
import { postgresWritten, sqliteWritten, type Written } from './written.ts';

/** What a commit writes: one row of 600 bytes, the recorded unit, or what the request at each path writes today. */
export type Commits =
  | { readonly kind: 'row' }
  | { readonly kind: 'unit'; readonly unit: Unit }
  | { readonly kind: 'written'; readonly written: Readonly<Record<string, Written>> };
export type CommitKind = Commits['kind'];

export interface FloorStorageSetup {
  readonly database: FloorDatabase;
  readonly commits: Commits;
  /** The row that a query reads. */
  readonly user: Unit['users'][number];
}

export interface FloorStorage {
  read(): Promise<void>;
  commit(path: string): Promise<void>;
  close(): Promise<void>;
}

const ROW = 'x'.repeat(600);
const READ = 'SELECT * FROM app_user WHERE organization_id = ? AND id = ?';
/** As in the service. */
const UNITS_PER_COMMIT = 128;

export async function openFloor(setup: FloorStorageSetup): Promise<FloorStorage> {
  return setup.database.kind === 'sqlite'
    ? openSqliteFloor(setup.database.file, setup)
    : await openPostgresFloor(setup.database.url, setup);
}

/** Commits that are asked for in one turn of the event loop share a transaction. */
function openSqliteFloor(file: string, { commits, user }: FloorStorageSetup): FloorStorage {
  const db = openSqlite(file);
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const read = db.prepare(READ);
  const writerOf = sqliteWriters(db, commits);
  const queue: { readonly write: () => void; readonly acknowledge: () => void }[] = [];
  const drain = (): void => {
    while (queue.length > 0) {
      const units = queue.splice(0, UNITS_PER_COMMIT);
      begin.run();
      for (const { write } of units) write();
      commit.run();
      for (const { acknowledge } of units) acknowledge();
    }
  };
  return {
    read: async () => void read.get(user.organizationId, user.userId),
    commit: (path) =>
      new Promise((acknowledge) => {
        if (queue.push({ write: writerOf(path), acknowledge }) === 1) setImmediate(drain);
      }),
    close: async () => void db.close(),
  };
}

function sqliteWriters(db: ReturnType<typeof openSqlite>, commits: Commits): (path: string) => () => void {
  switch (commits.kind) {
    case 'row': {
      db.exec('CREATE TABLE IF NOT EXISTS floor (id integer PRIMARY KEY, payload text NOT NULL)');
      const insert = db.prepare('INSERT INTO floor (payload) VALUES (?)');
      return () => () => void insert.run(ROW);
    }
    case 'unit': {
      const write = sqliteUnit(db, commits.unit);
      return () => write;
    }
    case 'written': {
      const writers = new Map(Object.entries(commits.written).map(([path, each]) => [path, sqliteWritten(db, each)]));
      return (path) => found(writers, path);
    }
  }
}

async function openPostgresFloor(url: string, { commits, user }: FloorStorageSetup): Promise<FloorStorage> {
  // Statements that do not wait for each other travel together, as those of the service do.
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    keepAlive: true,
    ...{ pipeline: true },
  });
  const read = {
    name: 'floor-read',
    text: 'SELECT * FROM app_user WHERE organization_id = $1 AND id = $2',
    values: [user.organizationId, user.userId],
  };
  return {
    read: async () => void (await pool.query(read)),
    commit: await postgresCommits(pool, commits, read),
    close: () => pool.end(),
  };
}

async function postgresCommits(
  pool: InstanceType<typeof pg.Pool>,
  commits: Commits,
  read: { name: string; text: string; values: string[] },
): Promise<FloorStorage['commit']> {
  switch (commits.kind) {
    case 'row': {
      await pool.query('CREATE TABLE IF NOT EXISTS floor (id bigserial PRIMARY KEY, payload text NOT NULL)');
      const row = { name: 'floor-row', text: 'INSERT INTO floor (payload) VALUES ($1)', values: [ROW] };
      return async () => void (await pool.query(row));
    }
    case 'unit': {
      const next = postgresUnit(commits.unit);
      return async () => void (await pool.query(next()));
    }
    case 'written': {
      const writers = new Map(
        Object.entries(commits.written).map(([path, each], index) => [
          path,
          { next: postgresWritten(`floor-${index}`, each), organizationId: each.organizationId },
        ]),
      );
      return async (path) => {
        const { next, organizationId } = found(writers, path);
        await pool.query(read);
        const client = await pool.connect();
        try {
          await Promise.all([client.query('BEGIN'), client.query({ ...LOCK, values: [organizationId] })]);
          await Promise.all([client.query(next()), client.query('COMMIT')]);
        } finally {
          client.release();
        }
      };
    }
  }
}

/** Who decides does not change until the commit, and what it decided by is still so. */
const LOCK = {
  name: 'floor-lock',
  text: `SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0)),
    (SELECT authority_version FROM organization WHERE id = $1)`,
};

function found<T>(writers: ReadonlyMap<string, T>, path: string): T {
  const writer = writers.get(path);
  if (writer === undefined) throw new Error(`the floor knows nothing to write for ${path}`);
  return writer;
}
