import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import type { TestServer } from '../harness/server.ts';

/** Every row of every table, as sorted lines per table. */
export type Dump = ReadonlyMap<string, readonly string[]>;

type Row = Record<string, unknown>;

const text = (row: Row): string =>
  JSON.stringify(Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]));

/** The database behind a running server, read without its help. */
export class RawDatabase implements AsyncDisposable {
  readonly #run: (sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly #listTables: string;
  readonly #placeholder: (index: number) => string;
  readonly #close: () => Promise<void>;

  private constructor(
    run: (sql: string, values?: readonly unknown[]) => Promise<Row[]>,
    listTables: string,
    placeholder: (index: number) => string,
    close: () => Promise<void>,
  ) {
    this.#run = run;
    this.#listTables = listTables;
    this.#placeholder = placeholder;
    this.#close = close;
  }

  static async open(server: TestServer): Promise<RawDatabase> {
    if (server.databaseUrl === undefined) {
      const db = new Sqlite(join(server.dataDir, 'custos.db'), { timeout: 5000 });
      return new RawDatabase(
        async (sql, values = []) => {
          const statement = db.prepare(sql);
          if (statement.reader) return statement.all(...values) as Row[];
          statement.run(...values);
          return [];
        },
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        () => '?',
        async () => void db.close(),
      );
    }
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    return new RawDatabase(
      async (sql, values = []) => (await client.query(sql, [...values])).rows as Row[],
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
      (index) => `$${index + 1}`,
      () => client.end(),
    );
  }

  async dump(): Promise<Dump> {
    const tables = (await this.#run(this.#listTables)).map((row) => String(row['name'])).sort();
    const dump = new Map<string, string[]>();
    for (const table of tables) dump.set(table, (await this.#run(`SELECT * FROM ${table}`)).map(text).sort());
    return dump;
  }

  /** Puts a row where no operation can. */
  async insert(table: string, row: Row): Promise<void> {
    const names = Object.keys(row);
    const places = names.map((_name, index) => this.#placeholder(index)).join(', ');
    await this.#run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`, Object.values(row));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** What is in one dump and not in the other; empty when nothing changed. */
export function changes(before: Dump, after: Dump): string[] {
  const found: string[] = [];
  for (const table of new Set([...before.keys(), ...after.keys()])) {
    const [old, current] = [new Set(before.get(table)), new Set(after.get(table))];
    for (const line of old) if (!current.has(line)) found.push(`- ${table} ${line}`);
    for (const line of current) if (!old.has(line)) found.push(`+ ${table} ${line}`);
  }
  return found;
}
