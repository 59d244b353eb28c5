// The least that a server can do with each database: one read by key, one durable commit.
import { type FloorDatabase, openSqlite, POOL_SIZE, pg } from './drivers.ts';
import { postgresUnit, sqliteUnit, type Unit } from './unit.ts';

/** One row of 600 bytes, or everything that an update_user_name writes. */
export type CommitKind = 'row' | 'unit';

export interface FloorStorage {
  read(): Promise<void>;
  commit(): Promise<void>;
  close(): Promise<void>;
}

const ROW = 'x'.repeat(600);
const READ = 'SELECT * FROM app_user WHERE organization_id = ? AND id = ?';
/** As in the service. */
const UNITS_PER_COMMIT = 128;

export async function openFloor(database: FloorDatabase, commit: CommitKind, unit: Unit): Promise<FloorStorage> {
  return database.kind === 'sqlite'
    ? openSqliteFloor(database.file, commit, unit)
    : await openPostgresFloor(database.url, commit, unit);
}

/** Commits that are asked for in one turn of the event loop share a transaction. */
function openSqliteFloor(file: string, kind: CommitKind, unit: Unit): FloorStorage {
  const db = openSqlite(file);
  db.exec('CREATE TABLE IF NOT EXISTS floor (id integer PRIMARY KEY, payload text NOT NULL)');
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const insert = db.prepare('INSERT INTO floor (payload) VALUES (?)');
  const read = db.prepare(READ);
  const write = kind === 'row' ? () => void insert.run(ROW) : sqliteUnit(db, unit);
  const [user] = unit.users;
  const queue: (() => void)[] = [];
  const drain = (): void => {
    while (queue.length > 0) {
      const units = queue.splice(0, UNITS_PER_COMMIT);
      begin.run();
      for (const _ of units) write();
      commit.run();
      for (const acknowledge of units) acknowledge();
    }
  };
  return {
    read: async () => void read.get(user?.organizationId, user?.userId),
    commit: () =>
      new Promise((resolve) => {
        if (queue.push(resolve) === 1) setImmediate(drain);
      }),
    close: async () => void db.close(),
  };
}

async function openPostgresFloor(url: string, kind: CommitKind, unit: Unit): Promise<FloorStorage> {
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE, keepAlive: true });
  await pool.query('CREATE TABLE IF NOT EXISTS floor (id bigserial PRIMARY KEY, payload text NOT NULL)');
  const next = postgresUnit(unit);
  const [user] = unit.users;
  const read = {
    name: 'floor-read',
    text: 'SELECT * FROM app_user WHERE organization_id = $1 AND id = $2',
    values: [user?.organizationId, user?.userId],
  };
  const row = { name: 'floor-row', text: 'INSERT INTO floor (payload) VALUES ($1)', values: [ROW] };
  return {
    read: async () => void (await pool.query(read)),
    commit: async () => void (await pool.query(kind === 'row' ? row : next())),
    close: () => pool.end(),
  };
}
