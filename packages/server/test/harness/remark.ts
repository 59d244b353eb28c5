import { join } from 'node:path';
import { createKeyring } from '@custos/keyring';
import pg from 'pg';
import { dataModel } from '../../src/domains.ts';
import type { DatabaseKind } from '../../src/storage/dialect.ts';
import { COLUMN_QUERIES } from '../../src/storage/integrity/columns.ts';
import { type IntegrityKey, Marks } from '../../src/storage/integrity/mark.ts';
import { type ColumnInfo, type MarkedTable, markedTables } from '../../src/storage/integrity/marked-table.ts';
import {
  digestOf,
  type RowSet,
  rowSets,
  type SetMark,
  setMarkOf,
  withDigests,
} from '../../src/storage/integrity/sets.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';

/** Where a service keeps what it has. */
export interface MarkedPlace {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  /** The setting; the key in the data directory unless told. */
  readonly rootKey?: string | undefined;
}

type Row = Record<string, unknown>;
export type Value = string | number | null | Uint8Array;
type Run = (text: string, values?: readonly Value[]) => Promise<Row[]>;

/** A row with the mark that the service would have given it, or as it is where its table has none. */
export type Marker = <R extends Row>(table: string, row: R) => R;

/** For whoever fills a database with rows of their own. */
export async function markerOf(place: MarkedPlace): Promise<Marker> {
  const { run, kind, close } = await connect(place);
  try {
    const { tables, marks } = await markingOf(run, kind, place);
    return (name, row) => {
      const table = tables.get(name);
      return table === undefined ? row : { ...row, [table.mark]: marks.of(table, row) };
    };
  } finally {
    await close();
  }
}

/**
 * Gives rows that a test has written by SQL the marks that the service would have given them, with the digests of the sets
 * that they belong to: what the test changed then counts as done by the service.
 */
export async function remark(place: MarkedPlace, table: string, condition = '1 = 1'): Promise<void> {
  const { run, kind, close } = await connect(place);
  try {
    await remarkWith(run, kind, place, table, condition);
  } finally {
    await close();
  }
}

/** The same over a connection that is open already, in its transaction. */
export async function remarkWith(
  run: Run,
  kind: DatabaseKind,
  place: MarkedPlace,
  table: string,
  condition = '1 = 1',
): Promise<void> {
  const { tables, marks } = await markingOf(run, kind, place);
  const writeAll = async (name: string, rows: readonly Row[]): Promise<void> => {
    const { key, mark } = tables.get(name) as MarkedTable;
    const marked: Row[] = rows.map((row) => ({
      ...pick(row, key),
      mark: marks.of(tables.get(name) as MarkedTable, row),
    }));
    if (kind === 'postgres') {
      const types = [...key, 'mark'].map((column) => `"${column}" text`).join(', ');
      const same = key.map((column) => `t."${column}"::text = v."${column}"`).join(' AND ');
      const query = `UPDATE ${name} AS t SET ${mark} = v.mark FROM json_to_recordset(CAST(? AS json)) AS v (${types}) WHERE ${same}`;
      await run(query, [JSON.stringify(marked)]);
      return;
    }
    const where = key.map((column) => `${column} = ?`).join(' AND ');
    await run('BEGIN IMMEDIATE');
    for (const row of marked)
      await run(`UPDATE ${name} SET ${mark} = ? WHERE ${where}`, [
        row['mark'] as string,
        ...key.map((column) => row[column] as Value),
      ]);
    await run('COMMIT');
  };
  const write: Write = async (name, row) => await writeAll(name, [row]);
  if (!tables.has(table)) return;
  const rows = await run(`SELECT * FROM ${table} WHERE ${condition}`);
  await writeAll(table, rows);
  // What was deleted is in no row, so all sets are settled.
  const owner = SETS.under.has(table) ? table : SETS.of.get(table)?.owner;
  if (owner === undefined) return;
  const key = (tables.get(owner) as MarkedTable).key;
  for (const row of await run(`SELECT * FROM ${owner}`)) await settle(run, write, owner, key, row);
}

const SETS = rowSets(dataModel.tables);

/** What is marked in the database of a place, and by what. */
async function markingOf(run: Run, kind: DatabaseKind, place: MarkedPlace) {
  const columns = (await run(COLUMN_QUERIES[kind])) as unknown as ColumnInfo[];
  return { tables: markedTables(dataModel.tables, columns), marks: new Marks(await keysOf(place, run)) };
}

const pick = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.map((column) => [column, row[column]]));

const WRITES = /^\s*(?:update|insert\s+into|delete\s+from)\s+"?(\w+)/i;

/** The table that a statement writes. */
export const writtenBy = (text: string): string | undefined => WRITES.exec(text)?.[1];

type Write = (table: string, row: Row) => Promise<void>;

async function settle(run: Run, write: Write, owner: string, columns: readonly string[], row: Row): Promise<void> {
  const sets = SETS.under.get(owner) ?? [];
  const key = columns.map((column) => row[column] as string);
  const digests = new Map<RowSet, string | undefined>();
  for (const set of sets) {
    const marks: SetMark[] = [];
    const where = set.key.map((column) => `${column} = ?`).join(' AND ');
    for (const table of set.tables.keys())
      for (const one of await run(`SELECT * FROM ${table} WHERE ${where}`, key)) marks.push(setMarkOf(set, table, one));
    digests.set(set, digestOf(marks));
  }
  const own = columns.map((column) => `${column} = ?`).join(' AND ');
  const column = sets[0]?.column as string;
  await run(`UPDATE ${owner} SET ${column} = ? WHERE ${own}`, [withDigests(sets, digests), ...key]);
  for (const settled of await run(`SELECT * FROM ${owner} WHERE ${own}`, key)) await write(owner, settled);
}

/** As a service gets them: lent by the keyring of the place. */
async function keysOf(
  { dataDir, rootKey = `file:${join(dataDir, 'root.key')}` }: MarkedPlace,
  run: Run,
): Promise<readonly IntegrityKey[]> {
  const [deployment] = await run("SELECT value FROM deployment WHERE name = 'deployment_key'");
  const rows = await run('SELECT key_id, generation, sealed_key FROM integrity_key ORDER BY generation');
  const keyring = await createKeyring({ rootKey, mode: 'inline' });
  try {
    const wrapped = Buffer.from(String(deployment?.['value']), 'hex');
    const lend = async ({ key_id, generation, sealed_key }: Row): Promise<IntegrityKey> => ({
      generation: Number(generation),
      bytes: await keyring.lendIntegrityKey(wrapped, String(key_id), Number(generation), sealed_key as Uint8Array),
    });
    return await Promise.all(rows.map(lend));
  } finally {
    await keyring.close();
  }
}

const BIGINT = 20;

/** With `?` for each value, and numbers as the service's own driver has them. */
export const runOn =
  (client: pg.Client): Run =>
  async (text, values = []) => {
    const types = new pg.TypeOverrides();
    types.setTypeParser(BIGINT, Number);
    let index = 0;
    return (await client.query({ text: text.replace(/\?/g, () => `$${++index}`), values: [...values], types })).rows;
  };

/** A connection of one's own, whose statements have `?` for each value. */
export async function connect({ dataDir, databaseUrl }: MarkedPlace) {
  if (databaseUrl === undefined) {
    const file = new SqliteFile(join(dataDir, 'custos.db'), { busyTimeoutMs: 10_000 });
    const run: Run = async (text, values = []) => {
      const statement = file.prepare(text);
      if (statement.columns.length > 0) return statement.all(...values);
      statement.run(...values);
      return [];
    };
    return { run, kind: 'sqlite' as const, close: async () => void file.close() };
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return { run: runOn(client), kind: 'postgres' as const, close: () => client.end() };
}
