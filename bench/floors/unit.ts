// What one update_user_name writes, found by comparing the database before and after one: rows that appeared become
// templates that a floor inserts again under new ids, rows that changed become an update of the same row.
import { randomBytes } from 'node:crypto';
import { type FloorDatabase, openSqlite, pg } from './drivers.ts';

type Row = Readonly<Record<string, unknown>>;
type Snapshot = ReadonlyMap<string, readonly Row[]>;

/** A row that each unit inserts. `fresh` columns get a new value in every unit. */
interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
}

export interface Unit {
  readonly inserts: readonly Insert[];
  /** Ids and digests that must differ from unit to unit, wherever they stand in a column of their own. */
  readonly fresh: readonly string[];
  /** Users that are renamed in turn, as the load does. */
  readonly users: readonly { readonly organizationId: string; readonly userId: string }[];
  readonly description: string;
}

/** Tables that a rename changes in place; the floor updates one row of each. */
const UPDATED = ['app_user', 'tree_entry'];
/** What the database itself changes with them, in the floor too: the counter of the feed (docs/decisions/0045). */
const BY_TRIGGERS = ['deployment'];

export async function snapshot(database: FloorDatabase): Promise<Snapshot> {
  const tables = new Map<string, readonly Row[]>();
  if (database.kind === 'sqlite') {
    const db = openSqlite(database.file);
    const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    for (const { name } of names.all() as { name: string }[]) {
      tables.set(name, db.prepare(`SELECT * FROM "${name}"`).all() as Row[]);
    }
    db.close();
    return tables;
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const names = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  for (const { name } of names.rows) tables.set(name, (await client.query<Row>(`SELECT * FROM "${name}"`)).rows);
  await client.end();
  return tables;
}

export function findUnit(before: Snapshot, after: Snapshot, users: Unit['users']): Unit {
  const inserts: Insert[] = [];
  const changed: string[] = [];
  const fresh = new Set<string>();
  for (const [table, rows] of after) {
    const old = new Set((before.get(table) ?? []).map((row) => JSON.stringify(row)));
    const added = rows.filter((row) => !old.has(JSON.stringify(row)));
    const grown = rows.length - old.size;
    if (added.length > grown) changed.push(table);
    for (const row of added.slice(0, grown)) {
      inserts.push({ table, columns: Object.keys(row), values: Object.values(row) });
      for (const column of ['id', 'fingerprint']) {
        if (typeof row[column] === 'string') fresh.add(row[column] as string);
      }
    }
  }
  const unknown = changed.filter((table) => !UPDATED.includes(table) && !BY_TRIGGERS.includes(table));
  if (unknown.length > 0) throw new Error(`a rename now changes rows of ${unknown.join(', ')}: add them to this floor`);
  const bytes = (values: readonly unknown[]): number =>
    values.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')), 0);
  const description = [
    ...inserts.map(({ table, values }) => `insert ${table} (${bytes(values)} bytes)`),
    ...changed.map((table) => `update ${table}`),
  ].join(', ');
  return { inserts, fresh: [...fresh], users, description };
}

let lastMs = 0;

/** Ordered as the service's ids are, so that the floor has the same pages to write. */
function newId(): string {
  lastMs = Math.max(lastMs + 1, Date.now());
  return idAt(lastMs);
}

/** A UUID of version 7. */
export function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  const noise = randomBytes(10).toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${noise.slice(0, 3)}-8${noise.slice(3, 6)}-${noise.slice(6, 18)}`;
}

const newFingerprint = (): string => `sha256:${randomBytes(32).toString('hex')}`;

interface Turn {
  readonly inserts: readonly (readonly unknown[])[];
  readonly name: string;
  readonly organizationId: string;
  readonly userId: string;
}

/** The values of the next unit. */
function turns(unit: Unit): () => Turn {
  // Which columns of which insert take which fresh value, looked up once.
  const slots = unit.inserts.map(({ values }) => values.map((value) => unit.fresh.indexOf(String(value))));
  let count = 0;
  return () => {
    count += 1;
    const fresh = unit.fresh.map((old) => (old.startsWith('sha256:') ? newFingerprint() : newId()));
    const inserts = unit.inserts.map(({ values }, row) =>
      values.map((value, column) => {
        const slot = slots[row]?.[column] as number;
        return slot < 0 ? value : fresh[slot];
      }),
    );
    const user = unit.users[count % unit.users.length] as Unit['users'][number];
    return { ...user, inserts, name: `Renamed ${String(count).padStart(9, '0')}` };
  };
}

/** Writes one unit into the transaction that is open. */
export function sqliteUnit(db: ReturnType<typeof openSqlite>, unit: Unit): () => void {
  const inserts = unit.inserts.map(({ table, columns }) =>
    db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`),
  );
  const rename = db.prepare(
    'UPDATE app_user SET name = ?, revision = revision + 1, updated_at_ms = ? WHERE organization_id = ? AND id = ?',
  );
  const reindex = db.prepare(
    "UPDATE tree_entry SET value = ? WHERE organization_id = ? AND owner_id = ? AND kind = 'USERNAME'",
  );
  const next = turns(unit);
  return () => {
    const turn = next();
    inserts.forEach((statement, index) => {
      statement.run(...(turn.inserts[index] as unknown[]));
    });
    rename.run(turn.name, Date.now(), turn.organizationId, turn.userId);
    reindex.run(turn.name, turn.organizationId, turn.userId);
  };
}

/** The same as one statement, which PostgreSQL commits by itself: one round post. */
export function postgresUnit(unit: Unit): () => { name: string; text: string; values: unknown[] } {
  let parameters = 0;
  const parameter = (): string => {
    parameters += 1;
    return `$${parameters}`;
  };
  const parts = unit.inserts.map(
    ({ table, columns }, index) =>
      `i${index} AS (INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(parameter).join(', ')}))`,
  );
  const [name, nowMs, organizationId, userId] = [parameter(), parameter(), parameter(), parameter()];
  const text = `WITH ${parts.join(', ')}, tree AS (
      UPDATE tree_entry SET value = ${name} WHERE organization_id = ${organizationId} AND owner_id = ${userId} AND kind = 'USERNAME')
    UPDATE app_user SET name = ${name}, revision = revision + 1, updated_at_ms = ${nowMs}::bigint
    WHERE organization_id = ${organizationId} AND id = ${userId}`;
  const next = turns(unit);
  return () => {
    const turn = next();
    const values = [...turn.inserts.flat(), turn.name, Date.now(), turn.organizationId, turn.userId];
    return { name: 'floor-unit', text, values };
  };
}
