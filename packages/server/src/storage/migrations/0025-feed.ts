import { randomBytes } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** What the feed follows, and the columns whose change it tells. */
const FOLLOWED = [
  // Two votes may come within one millisecond, and then neither column differs: writing them is enough.
  { table: 'activity', columns: ['status', 'updated_at_ms'], tellsEqual: true },
  { table: 'chain_send', columns: ['state'], tellsEqual: false },
  { table: 'webhook_delivery', columns: ['state'], tellsEqual: false },
] as const;

/** All processes seal the cursors of feeds with one key. */
const CURSOR_KEY_BYTES = 32;

/**
 * Every row that the feed follows says in which change it came to be what it is: by the number of its transaction on
 * PostgreSQL, and by a counter on SQLite (docs/decisions/0045). The database writes it, so that no statement can forget to,
 * and a process that knows nothing of the feed is followed too.
 */
export const feed: Migration = {
  name: '0025-feed',
  // The triggers mark what an older process writes.
  compatibility: 'expand',
  endsSessions: true,
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    for (const { table } of FOLLOWED) {
      const name = sql.table(table);
      await run(sql`ALTER TABLE ${name} ADD COLUMN changed_in bigint`);
      // Rows that were there before are followed from their next change on.
      await run(sql`CREATE INDEX ${sql.ref(`ix_${table}_changed`)} ON ${name} (organization_id, changed_in, id)
        WHERE changed_in IS NOT NULL`);
    }
    const key = randomBytes(CURSOR_KEY_BYTES).toString('hex');
    await run(sql`INSERT INTO deployment (name, value) VALUES ('feed_key', ${key})`);
    await (kind === 'postgres' ? byTransaction(run) : byCounter(run));
  },
};

async function byTransaction(run: (statement: RawBuilder<unknown>) => Promise<void>): Promise<void> {
  const current = sql`pg_current_xact_id()::text::bigint`;
  await run(sql`CREATE FUNCTION custos_mark_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.changed_in := ${current}; RETURN NEW; END $$`);
  for (const { table, columns, tellsEqual } of FOLLOWED) {
    const name = sql.table(table);
    // A default costs an insert next to nothing, and a trigger would not.
    await run(sql`ALTER TABLE ${name} ALTER COLUMN changed_in SET DEFAULT ${current}`);
    await run(sql`CREATE TRIGGER ${sql.ref(`tg_${table}_changed`)} BEFORE UPDATE OF ${namesOf(columns)} ON ${name}
      FOR EACH ROW ${tellsEqual ? sql`` : whereDifferent(columns)} EXECUTE FUNCTION custos_mark_change()`);
  }
}

async function byCounter(run: (statement: RawBuilder<unknown>) => Promise<void>): Promise<void> {
  await run(sql`INSERT INTO deployment (name, value) VALUES ('change_number', '0')`);
  for (const { table, columns, tellsEqual } of FOLLOWED) {
    const name = sql.table(table);
    const mark = sql`BEGIN
      UPDATE deployment SET value = CAST(value AS integer) + 1 WHERE name = 'change_number';
      UPDATE ${name} SET changed_in = (SELECT CAST(value AS integer) FROM deployment WHERE name = 'change_number')
        WHERE rowid = NEW.rowid;
    END`;
    await run(sql`CREATE TRIGGER ${sql.ref(`tg_${table}_made`)} AFTER INSERT ON ${name} ${mark}`);
    await run(sql`CREATE TRIGGER ${sql.ref(`tg_${table}_changed`)} AFTER UPDATE OF ${namesOf(columns)} ON ${name}
      ${tellsEqual ? sql`` : whereDifferent(columns)} ${mark}`);
  }
}

const namesOf = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.ref(column)));

const whereDifferent = (columns: readonly string[]): RawBuilder<unknown> =>
  sql`WHEN (${sql.join(
    columns.map((column) => sql`OLD.${sql.ref(column)} IS DISTINCT FROM NEW.${sql.ref(column)}`),
    sql` OR `,
  )})`;
