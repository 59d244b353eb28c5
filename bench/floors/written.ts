// What one request writes, found by comparing the database before and after it: rows that appeared become templates that a
// floor inserts again under new ids, rows that changed become an update of the same row.
import { randomBytes } from 'node:crypto';
import { type FloorDatabase, openSqlite, pg } from './drivers.ts';
import { newId } from './unit.ts';

type Row = Readonly<Record<string, unknown>>;
interface Table {
  readonly rows: readonly Row[];
  /** The columns of its primary key. */
  readonly key: readonly string[];
}
type Snapshot = ReadonlyMap<string, Table>;

interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
}

interface Update extends Insert {
  readonly where: readonly string[];
  /** Of the row that was changed and of its peers, which are changed in turn. */
  readonly keys: readonly (readonly unknown[])[];
}

/** Which rows the load changes besides the one that was seen: none, those of its organization, or those of any. */
export type Peers = 'none' | 'organization' | 'any';

export interface Written {
  readonly organizationId: string;
  readonly inserts: readonly Insert[];
  readonly updates: readonly Update[];
  /** Ids, digests and names that must differ from request to request, wherever they stand in a column of their own. */
  readonly fresh: readonly string[];
  readonly description: string;
}

/** What triggers write, in the floor too (docs/decisions/0045), and limits, which a server could keep in memory. */
const NOT_WRITTEN_BY_FLOORS = ['deployment', 'rate_window'];
/** There are more rows than connections, so requests that run at once change different ones. */
const PEERS_MAX = 64;
const FRESH_LENGTH_MIN = 16;
const FRESH_LENGTH_MAX = 132;

const KEY_OF_SQLITE = 'SELECT name FROM pragma_table_info(?) WHERE pk > 0';
const KEYS_OF_POSTGRES = `SELECT c.relname AS "table", a.attname AS name FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
  WHERE i.indisprimary`;

export async function snapshot(database: FloorDatabase): Promise<Snapshot> {
  const tables = new Map<string, Table>();
  if (database.kind === 'sqlite') {
    const db = openSqlite(database.file);
    const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    const keyOf = db.prepare(KEY_OF_SQLITE);
    for (const { name } of names.all() as { name: string }[]) {
      const key = (keyOf.all(name) as { name: string }[]).map((column) => column.name);
      tables.set(name, { rows: db.prepare(`SELECT * FROM "${name}"`).all() as Row[], key });
    }
    db.close();
    return tables;
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const names = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const keys = (await client.query<{ table: string; name: string }>(KEYS_OF_POSTGRES)).rows;
  for (const { name } of names.rows) {
    const key = keys.filter(({ table }) => table === name).map((column) => column.name);
    tables.set(name, { rows: (await client.query<Row>(`SELECT * FROM "${name}"`)).rows, key });
  }
  await client.end();
  return tables;
}

export function findWritten(before: Snapshot, after: Snapshot, organizationId: string, peers: Peers = 'none'): Written {
  const known = new Set([...before.values()].flatMap(({ rows }) => rows.flatMap((row) => Object.values(row))));
  const inserts: Insert[] = [];
  const updates: Update[] = [];
  const fresh = new Set<string>();
  for (const [table, { rows, key }] of after) {
    if (NOT_WRITTEN_BY_FLOORS.includes(table)) continue;
    const [now, old] = [textsOf(rows), textsOf(before.get(table)?.rows ?? [])];
    const gone = [...old].filter(([text]) => !now.has(text)).map(([, row]) => row);
    for (const [text, row] of now) {
      if (old.has(text)) continue;
      const was = mostAlike(gone, row, key);
      if (was !== undefined) updates.push(updateOf(table, key, was, row, peersOf(rows, row, peers)));
      else {
        inserts.push({ table, columns: Object.keys(row), values: Object.values(row) });
        for (const value of Object.values(row)) if (isFresh(value) && !known.has(value)) fresh.add(value);
      }
    }
  }
  const bytes = (values: readonly unknown[]): number =>
    values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')), 0);
  const description = [
    ...inserts.map(({ table, values }) => `insert ${table} (${bytes(values)} bytes)`),
    ...updates.map(({ table }) => `update ${table}`),
  ].join(', ');
  return { organizationId, inserts, updates, fresh: [...fresh], description };
}

const textsOf = (rows: readonly Row[]): Map<string, Row> => new Map(rows.map((row) => [JSON.stringify(row), row]));

const isFresh = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length >= FRESH_LENGTH_MIN &&
  value.length <= FRESH_LENGTH_MAX &&
  !/^[[{]/.test(value);

/** The row that became this one: it shares most of the primary key. Taken out of the list. */
function mostAlike(gone: Row[], row: Row, key: readonly string[]): Row | undefined {
  const shared = (other: Row): number => key.filter((column) => other[column] === row[column]).length;
  const index = gone.findIndex((other) => shared(other) >= Math.max(1, key.length - 1));
  return index < 0 ? undefined : gone.splice(index, 1)[0];
}

function peersOf(rows: readonly Row[], row: Row, peers: Peers): readonly Row[] {
  if (peers === 'none') return [row];
  const isPeer = ({ organization_id, kind }: Row): boolean =>
    peers === 'any' || (organization_id === row.organization_id && kind === row.kind);
  return rows.filter(isPeer).slice(-PEERS_MAX);
}

function updateOf(table: string, key: readonly string[], was: Row, row: Row, peers: readonly Row[]): Update {
  const columns = Object.keys(row).filter((column) => JSON.stringify(row[column]) !== JSON.stringify(was[column]));
  const where = key.filter((column) => !columns.includes(column));
  return {
    table,
    columns,
    values: columns.map((column) => row[column]),
    where,
    keys: peers.map((peer) => where.map((column) => peer[column])),
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;
const HEX_RUN = /[0-9a-f]{12}/;
const NOISE_BYTES = 6;
const POOL_BYTES = 6 * 8192;
let pool = '';
let drawn = 0;

/** Twelve hexadecimal digits. */
function noise(): string {
  if (drawn === pool.length) [pool, drawn] = [randomBytes(POOL_BYTES).toString('hex'), 0];
  drawn += NOISE_BYTES * 2;
  return pool.slice(drawn - NOISE_BYTES * 2, drawn);
}

/** Makes values of the same length and kind that differ. */
function freshOf(old: string): () => string {
  if (UUID.test(old)) return newId;
  const at = HEX_RUN.exec(old)?.index ?? old.length - NOISE_BYTES * 2;
  const [head, tail] = [old.slice(0, at), old.slice(at + NOISE_BYTES * 2)];
  return () => head + noise() + tail;
}

/** The values of the next request: those of each insert, then those of each update. */
function turns({ inserts, updates, fresh }: Written): () => unknown[][] {
  const makers = fresh.map(freshOf);
  // Which columns take which fresh value, looked up once.
  const slotsOf = (values: readonly unknown[]) => values.map((value) => fresh.indexOf(String(value)));
  const slots = inserts.map(({ values }) => slotsOf(values));
  let count = 0;
  const changed = (value: unknown): unknown => {
    if (typeof value === 'number') return value + count;
    if (typeof value === 'string' && value.length > 9) return value.slice(0, -9) + String(count).padStart(9, '0');
    return value;
  };
  return () => {
    count += 1;
    const made = makers.map((make) => make());
    return [
      ...inserts.map(({ values }, row) =>
        values.map((value, column) => {
          const slot = slots[row]?.[column] as number;
          return slot < 0 ? value : made[slot];
        }),
      ),
      ...updates.map(({ values, keys }) => [...values.map(changed), ...(keys[count % keys.length] ?? [])]),
    ];
  };
}

const insertText = ({ table, columns }: Insert, parameter: (column: number) => string): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, at) => parameter(at)).join(', ')})`;

const updateText = ({ table, columns, where }: Update, parameter: (column: number) => string): string =>
  `UPDATE ${table} SET ${columns.map((column, at) => `${column} = ${parameter(at)}`).join(', ')}
   WHERE ${where.map((column, at) => `${column} = ${parameter(columns.length + at)}`).join(' AND ')}`;

/** Writes one request's rows into the transaction that is open. */
export function sqliteWritten(db: ReturnType<typeof openSqlite>, written: Written): () => void {
  const statements = [
    ...written.inserts.map((insert) => db.prepare(insertText(insert, () => '?'))),
    ...written.updates.map((update) => db.prepare(updateText(update, () => '?'))),
  ];
  const next = turns(written);
  return () => {
    const values = next();
    for (let index = 0; index < statements.length; index += 1) statements[index]?.run(...(values[index] as unknown[]));
  };
}

/** The same as one statement. */
export function postgresWritten(
  name: string,
  written: Written,
): () => { name: string; text: string; values: unknown[] } {
  let parameters = 0;
  const numbered = (count: number): ((at: number) => string) => {
    const first = parameters + 1;
    parameters += count;
    return (at) => `$${first + at}`;
  };
  const parts = [
    ...written.inserts.map((insert) => insertText(insert, numbered(insert.columns.length))),
    ...written.updates.map((update) => updateText(update, numbered(update.columns.length + update.where.length))),
  ];
  const text = `WITH ${parts.map((part, index) => `w${index} AS (${part})`).join(', ')} SELECT 1`;
  const next = turns(written);
  return () => ({ name, text, values: next().flat() });
}
