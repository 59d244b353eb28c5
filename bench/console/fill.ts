// Activities of an organization that has been at work for long: copies of a few real ones with their votes, each under
// its own id and time. No key signed them, so they are there to be listed and read, and for nothing else.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type MarkedPlace, markerOf } from '../../packages/server/test/harness/remark.ts';
import { openSqlite } from '../floors/drivers.ts';
import { idAt } from '../floors/unit.ts';

type Row = Record<string, unknown>;

/** One every five minutes: a hundred thousand take a year. */
const STEP_MS = 300_000;

/** Copies the organization's activities, older than they are, until there are `count`. The service must not run. */
export async function fillActivities(place: MarkedPlace, organizationId: string, count: number): Promise<void> {
  const marked = await markerOf(place);
  const db = openSqlite(join(place.dataDir, 'custos.db'));
  db.exec('PRAGMA synchronous = OFF');
  db.exec('BEGIN');
  const templates = db
    .prepare(
      "SELECT * FROM activity WHERE organization_id = ? AND proposer_id IS NOT NULL AND status = 'ACTIVITY_STATUS_COMPLETED'",
    )
    .all(organizationId) as Row[];
  const votes = templates.map(
    ({ id }) =>
      db.prepare('SELECT * FROM vote WHERE organization_id = ? AND activity_id = ?').all(organizationId, id) as Row[],
  );
  const insert = (table: string, copy: Row): void => {
    const row = marked(table, copy);
    const columns = Object.keys(row);
    db.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`).run(...Object.values(row));
  };
  const firstMs = Date.now() - count * STEP_MS;
  for (let position = 0; position < count - templates.length; position += 1) {
    const turn = position % templates.length;
    const ms = firstMs + position * STEP_MS;
    const times = { created_at_ms: ms, round_started_at_ms: ms };
    const id = idAt(ms);
    const fingerprint = `sha256:${randomBytes(32).toString('hex')}`;
    insert('activity', { ...templates[turn], ...times, id, fingerprint, updated_at_ms: ms });
    for (const vote of votes[turn] ?? []) {
      insert('vote', { ...vote, ...times, id: idAt(ms), activity_id: id, message_digest: fingerprint });
    }
  }
  db.exec('COMMIT');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}
