// What one update_user_name wrote to the recorded tables: rows that a floor inserts again under new ids, and an update of the
// user and of its name in the tree.
import { randomBytes } from 'node:crypto';
import type { openSqlite } from './drivers.ts';

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
}

let lastMs = 0;

/** Ordered as the service's ids are, so that the floor has the same pages to write. */
export function newId(): string {
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

/** The same as one statement, which PostgreSQL commits by itself: one round trip. */
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
