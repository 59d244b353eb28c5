import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import type { TestServer } from '../harness/server.ts';

type Cell = string | number | bigint | null | Buffer;
type Row = readonly Cell[];

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** Who works on the webhooks of which endpoint: it changes without any request. */
const RESTLESS_TABLE = 'webhook_lane';

/** Deliveries of deleted endpoints are cleared away by and by. */
const KEPT: Readonly<Record<string, string>> = {
  webhook_delivery: 'WHERE endpoint_id IN (SELECT id FROM webhook_endpoint)',
};

/** Every row of every other table. */
export type Dump = ReadonlyMap<string, Table>;

interface Connection {
  readonly listTables: string;
  select(sql: string): Promise<Table>;
  /** Another one after every commit of anybody else; undefined where that cannot be told. */
  version(): unknown;
  close(): Promise<void>;
}

/** The database behind a running server, read without its help. */
export class RawDatabase implements AsyncDisposable {
  readonly #connection: Connection;
  #last: { readonly version: unknown; readonly dump: Dump } | undefined;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async open({ databaseUrl, dataDir }: TestServer): Promise<RawDatabase> {
    return new RawDatabase(
      databaseUrl === undefined ? openSqlite(join(dataDir, 'custos.db')) : await openPostgres(databaseUrl),
    );
  }

  async dump(): Promise<Dump> {
    const version = this.#connection.version();
    if (version !== undefined && this.#last?.version === version) return this.#last.dump;
    const dump = await this.#read();
    this.#last = { version, dump };
    return dump;
  }

  async #read(): Promise<Dump> {
    const { rows } = await this.#connection.select(this.#connection.listTables);
    const dump = new Map<string, Table>();
    for (const [table] of rows) {
      const name = String(table);
      if (name === RESTLESS_TABLE) continue;
      dump.set(name, await this.#connection.select(`SELECT * FROM ${name} ${KEPT[name] ?? ''}`));
    }
    return dump;
  }

  /** `rows` is a table, with a condition behind it or without. */
  async isEmpty(rows: string): Promise<boolean> {
    return (await this.#connection.select(`SELECT 1 FROM ${rows} LIMIT 1`)).rows.length === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }
}

function openSqlite(file: string): Connection {
  const db = new Sqlite(file, { timeout: 5000 });
  return {
    listTables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    select: async (sql) => {
      const statement = db.prepare(sql);
      return { columns: statement.columns().map(({ name }) => name), rows: statement.raw().all() as Row[] };
    },
    version: () => db.pragma('data_version', { simple: true }),
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
    version: () => undefined,
    close: () => client.end(),
  };
}

/** What is in one dump and not in the other; empty when nothing changed. */
export function changes(before: Dump, after: Dump): string[] {
  if (before === after) return [];
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
