import type { Client, QueryArrayConfig } from 'pg';
import { connectPostgres, explain, LONG_ANSWER_MS_MAX } from '../../keyring-admin/postgres-session.ts';
import { StartError } from '../../lib/start-error.ts';
import type { AppliedMigration } from '../../storage/migrate.ts';
import { types } from '../../storage/postgres/rows.ts';
import { pinnedSearchPath } from '../../storage/postgres/search-path.ts';
import type { ArchiveRow, ArchiveValue } from '../archive/parts.ts';
import { BATCH_BYTES, BATCH_ROWS, type Snapshot } from './snapshot.ts';

/** Of each row beforehand how many bytes it has, for so many at once. */
const SIZES_AT_ONCE = 5000;

/**
 * One transaction that only reads and sees one moment. Rows come through cursors, as many at once as there are bytes for. Which
 * they are is known from a second cursor over the sizes alone: both read the table from its beginning to its end.
 */
export async function openPostgresSnapshot(url: string): Promise<Snapshot> {
  const client = await connectPostgres(url, LONG_ANSWER_MS_MAX);
  try {
    const searchPath = await pinnedSearchPath(client, url);
    if (searchPath !== undefined) await client.query(`SET search_path TO ${searchPath}`);
    // Policies of rows would leave some out: they fail it instead. No timeout is for something of this length.
    await client.query(`SET row_security TO off; SET statement_timeout TO 0; SET lock_timeout TO '15s';
      SET idle_in_transaction_session_timeout TO 0; SET synchronize_seqscans TO off;
      SET enable_indexscan TO off; SET enable_indexonlyscan TO off; SET enable_bitmapscan TO off`);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // The first statement takes the snapshot.
    const { rows } = await client.query('SELECT pg_catalog.pg_current_wal_lsn()::text AS position');
    const atMs = Date.now();
    const migrations = await client.query('SELECT * FROM schema_migration ORDER BY name');
    return new PostgresSnapshot(client, atMs, String(rows[0]?.position), migrations.rows);
  } catch (error) {
    await client.end().catch(() => {});
    throw error instanceof StartError ? error : explain(error);
  }
}

class PostgresSnapshot implements Snapshot {
  readonly kind = 'postgres';
  readonly #client: Client;
  readonly atMs;
  readonly position;
  readonly migrations;
  /** Those whose values differ in size. */
  readonly #wide = new Map<string, readonly string[]>();

  constructor(client: Client, atMs: number, position: string, migrations: readonly AppliedMigration[]) {
    this.#client = client;
    this.atMs = atMs;
    this.position = position;
    this.migrations = migrations;
  }

  async columnsOf(table: string): Promise<readonly string[]> {
    const found = await this.#rows(
      `SELECT a.attname, a.atttypid = ANY ('{17,25,1043}'::oid[]) FROM pg_catalog.pg_class AS c
       JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.oid = pg_catalog.to_regclass($1) AND c.relkind IN ('r', 'p') ORDER BY a.attnum`,
      [table],
    );
    if (found.length === 0) throw new StartError(`the PostgreSQL database has no table ${table}: it is damaged`);
    this.#wide.set(
      table,
      found.flatMap(([name, isWide]) => ((isWide as unknown) === true ? [String(name)] : [])),
    );
    return found.map(([name]) => String(name));
  }

  async *rows(table: string, columns: readonly string[]): AsyncGenerator<ArchiveRow[], void, undefined> {
    const sizes = (this.#wide.get(table) ?? []).map((column) => `coalesce(octet_length("${column}"), 0)`);
    await this.#rows(`DECLARE backup_sizes NO SCROLL CURSOR FOR SELECT ${['0', ...sizes].join(' + ')} FROM "${table}"`);
    await this.#rows(
      `DECLARE backup_rows NO SCROLL CURSOR FOR SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM "${table}"`,
    );
    for (let known = await this.#sizes(); known.length > 0; known = await this.#sizes()) {
      for (let start = 0; start < known.length; ) {
        const count = countOf(known, start);
        const batch = await this.#rows(`FETCH ${count} FROM backup_rows`);
        if (batch.length !== count)
          throw new StartError(`the table ${table} is damaged: reading it again gives other rows`);
        yield batch;
        start += count;
      }
    }
    await this.#rows('CLOSE backup_sizes');
    await this.#rows('CLOSE backup_rows');
  }

  async close(): Promise<void> {
    // Without saying goodbye where the connection is lost, or still busy with what nobody takes.
    await this.#client.end().catch(() => {});
  }

  async #sizes(): Promise<number[]> {
    return (await this.#rows(`FETCH ${SIZES_AT_ONCE} FROM backup_sizes`)).map(([size]) => Number(size));
  }

  async #rows(text: string, values: readonly ArchiveValue[] = []): Promise<ArchiveRow[]> {
    const query: QueryArrayConfig = { text, values: [...values], rowMode: 'array', types };
    try {
      return (await this.#client.query(query)).rows;
    } catch (error) {
      throw explain(error);
    }
  }
}

/** How many rows from `start` on are a batch; at least one. */
function countOf(sizes: readonly number[], start: number): number {
  let bytes = sizes[start] ?? 0;
  let end = start + 1;
  while (end < sizes.length && end - start < BATCH_ROWS && bytes + (sizes[end] ?? 0) <= BATCH_BYTES) {
    bytes += sizes[end] ?? 0;
    end += 1;
  }
  return end - start;
}
