import { sql } from 'kysely';
import type { ArchiveRow } from '../../backup/archive/parts.ts';
import { dataModel } from '../../domains.ts';
import { kyselyOver } from '../../storage/connection-dialect.ts';
import { SqliteFile, type SqliteStatement } from '../../storage/sqlite-driver.ts';
import { executeOn, flavour } from '../../storage/sqlite-execute.ts';
import type { RawTables } from './raw-tables.ts';

const CACHE_KIB = 65_536;

interface Trigger {
  readonly name: string;
  readonly sql: string;
}

/**
 * A file that is filled. Should anything fail, the file is thrown away, so that nothing is kept to undo it with, and nothing is
 * synced before it is whole.
 */
export class SqliteTables implements RawTables {
  readonly kind = 'sqlite';
  readonly db;
  readonly #file: SqliteFile;
  #triggers: readonly Trigger[] = [];
  #insert: { readonly text: string; readonly statement: SqliteStatement } | undefined;

  constructor(path: string) {
    this.#file = new SqliteFile(path);
    this.#file.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
       PRAGMA cache_size = -${CACHE_KIB}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = ON; BEGIN`,
    );
    this.db = kyselyOver('sqlite', flavour, executeOn(this.#file));
  }

  /** The triggers would number each row anew. */
  async still(): Promise<void> {
    const { rows } = await sql<Trigger>`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`.execute(this.db);
    this.#triggers = rows;
    for (const { name } of rows) await sql`DROP TRIGGER ${sql.ref(name)}`.execute(this.db);
  }

  /** Numbers of changes go on behind those that came in, which another kind of database may have given. */
  async settle(): Promise<void> {
    const followed = dataModel.tables.filter((table) => table.followed !== undefined);
    const numbers = followed.map(({ name }) => sql`SELECT max(changed_in) AS number FROM ${sql.table(name)}`);
    numbers.push(sql`SELECT CAST(value AS integer) FROM deployment WHERE name = 'change_number'`);
    const { rows } = await sql<{ last: number | null }>`SELECT max(number) AS last FROM
      (${sql.join(numbers, sql` UNION ALL `)}) AS numbers`.execute(this.db);
    const value = String(rows[0]?.last ?? 0);
    await this.db
      .insertInto('deployment')
      .values({ name: 'change_number', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
    for (const trigger of this.#triggers) await sql.raw(trigger.sql).execute(this.db);
    this.#triggers = [];
  }

  async insert(table: string, columns: readonly string[], rows: readonly ArchiveRow[]): Promise<void> {
    const names = columns.map(quoted).join(', ');
    const text = `INSERT INTO ${quoted(table)} (${names}) VALUES (${columns.map(() => '?').join(', ')})`;
    if (this.#insert?.text !== text) this.#insert = { text, statement: this.#file.prepare(text) };
    for (const row of rows) this.#insert.statement.run(...row);
  }

  /** With all that came in; without a call of it, there is a file that is no database. */
  commit(): void {
    this.#file.exec('COMMIT');
    // The next access lets the lock go. Closing alone does so only once every statement has been collected as garbage.
    this.#file.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_master');
  }

  close(): void {
    this.#file.close();
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
