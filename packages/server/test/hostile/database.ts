import { join } from 'node:path';
import pg from 'pg';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import type { TestServer } from '../harness/server.ts';

type Cell = string | number | bigint | null | Buffer;
type Row = readonly Cell[];

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * Who works on the webhooks of which endpoint, how far chains are watched, and when credentials were last used: they
 * change behind the requests.
 */
const RESTLESS_TABLES: ReadonlySet<string> = new Set(['webhook_lane', 'balance_cursor', 'balance_block', 'last_use']);

/**
 * Deliveries of deleted endpoints are cleared away by and by, blocks bring news of balances whenever they come, and the
 * feed counts every change on the embedded database.
 */
const KEPT: Readonly<Record<string, string>> = {
  deployment: "WHERE name <> 'change_number'",
  webhook_event: "WHERE event_type NOT LIKE 'BALANCE_%'",
  webhook_delivery: `WHERE endpoint_id IN (SELECT id FROM webhook_endpoint)
    AND event_id NOT IN (SELECT id FROM webhook_event WHERE event_type LIKE 'BALANCE_%')`,
};

/** Every row of every other table. */
type Dump = ReadonlyMap<string, Table>;

interface Connection {
  readonly listTables: string;
  select(sql: string): Promise<Table>;
  /** Another one after every commit of anybody else; on a server also after those to other databases. */
  version(): Promise<unknown>;
  /** From here on it reads what is there now, whatever is written later. */
  hold(): Promise<void>;
  close(): Promise<void>;
}

/** What has become of the database since a moment. */
export interface Watch {
  /** What is there now and was not then, or was then and is not now; empty when nothing changed. */
  changes(): Promise<string[]>;
}

/** The database behind a running server, read without its help. */
export class RawDatabase implements AsyncDisposable {
  readonly #now: Connection;
  readonly #then: Connection;

  private constructor(now: Connection, then: Connection) {
    this.#now = now;
    this.#then = then;
  }

  static async open({ databaseUrl, dataDir }: Pick<TestServer, 'databaseUrl' | 'dataDir'>): Promise<RawDatabase> {
    const connect = async () =>
      databaseUrl === undefined ? openSqlite(join(dataDir, 'custos.db')) : await openPostgres(databaseUrl);
    return new RawDatabase(await connect(), await connect());
  }

  /** One at a time. Nothing is read unless something is written: most of what is tried is refused before that. */
  async watch(): Promise<Watch> {
    const version = await this.#now.version();
    await this.#then.hold();
    return {
      changes: async () =>
        (await this.#now.version()) === version ? [] : changes(await dump(this.#then), await dump(this.#now)),
    };
  }

  /** `rows` is a table, with a condition behind it or without. */
  async isEmpty(rows: string): Promise<boolean> {
    return (await this.#now.select(`SELECT 1 FROM ${rows} LIMIT 1`)).rows.length === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#then.close();
    await this.#now.close();
  }
}

async function dump(connection: Connection): Promise<Dump> {
  const { rows } = await connection.select(connection.listTables);
  const tables = new Map<string, Table>();
  for (const [table] of rows) {
    const name = String(table);
    if (RESTLESS_TABLES.has(name)) continue;
    tables.set(name, await connection.select(`SELECT * FROM ${name} ${KEPT[name] ?? ''}`));
  }
  return tables;
}

function openSqlite(file: string): Connection {
  const db = new SqliteFile(file);
  return {
    listTables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    select: async (sql) => {
      const statement = db.prepare(sql);
      return { columns: statement.columns, rows: statement.arrays() as Row[] };
    },
    version: async () => db.prepare('PRAGMA data_version').get()?.data_version,
    hold: async () => {
      if (db.isInTransaction) db.exec('COMMIT');
      db.exec('BEGIN; SELECT 1 FROM sqlite_master');
    },
    close: async () => void db.close(),
  };
}

async function openPostgres(url: string): Promise<Connection> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    listTables:
      'SELECT table_name FROM information_schema.tables WHERE table_schema = \'public\' ORDER BY table_name COLLATE "C"',
    select: async (text) => {
      const { fields, rows } = await client.query<Cell[]>({ text, rowMode: 'array' });
      return { columns: fields.map(({ name }) => name), rows };
    },
    version: async () => (await client.query('SELECT pg_snapshot_xmax(pg_current_snapshot()) AS x')).rows[0].x,
    hold: async () => {
      await client.query('ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await client.query('SELECT 1');
    },
    close: () => client.end(),
  };
}

function changes(before: Dump, after: Dump): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, current] = [before.get(name), after.get(name)];
    // Untouched tables come back in the same order; only others are worth the work of telling the rows apart.
    return old !== undefined && current !== undefined && isSame(old.rows, current.rows)
      ? []
      : compare(name, old, current);
  });
}

const isSame = (old: readonly Row[], current: readonly Row[]): boolean =>
  old.length === current.length &&
  old.every((row, index) => row.every((cell, column) => isSameCell(cell, current[index]?.[column])));

const isSameCell = (old: Cell, current: Cell | undefined): boolean =>
  old === current || (Buffer.isBuffer(old) && Buffer.isBuffer(current) && old.equals(current));

function compare(name: string, before: Table | undefined, after: Table | undefined): string[] {
  const [old, current] = [lines(before), lines(after)];
  return [
    ...[...old].filter((line) => !current.has(line)).map((line) => `- ${name} ${line}`),
    ...[...current].filter((line) => !old.has(line)).map((line) => `+ ${name} ${line}`),
  ];
}

const lines = (table: Table | undefined): Set<string> =>
  new Set(
    table?.rows.map((row) =>
      JSON.stringify(
        row.map((cell, index) => [table.columns[index], Buffer.isBuffer(cell) ? cell.toString('hex') : cell]),
      ),
    ),
  );
