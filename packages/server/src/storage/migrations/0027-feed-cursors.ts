import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

const KEY_BYTES = 32;

/**
 * A key that all processes seal the cursors of feeds with, and triggers that tell of every vote: two of them may come within
 * one millisecond, and then no column of the activity differs.
 */
export const feedCursors: Migration = {
  name: '0027-feed-cursors',
  // An older process neither reads the key nor names the triggers.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const key = randomBytes(KEY_BYTES).toString('hex');
    await sql`INSERT INTO deployment (name, value) VALUES ('feed_key', ${key})`.execute(db);
    if (kind === 'postgres') {
      await sql`DROP TRIGGER tg_activity_changed ON activity`.execute(db);
      await sql`CREATE TRIGGER tg_activity_changed BEFORE UPDATE OF status, updated_at_ms ON activity
        FOR EACH ROW EXECUTE FUNCTION custos_mark_change()`.execute(db);
      return;
    }
    await sql`DROP TRIGGER tg_activity_changed`.execute(db);
    await sql`CREATE TRIGGER tg_activity_changed AFTER UPDATE OF status, updated_at_ms ON activity BEGIN
      UPDATE deployment SET value = CAST(value AS integer) + 1 WHERE name = 'change_number';
      UPDATE activity SET changed_in = (SELECT CAST(value AS integer) FROM deployment WHERE name = 'change_number')
        WHERE rowid = NEW.rowid;
    END`.execute(db);
  },
};
