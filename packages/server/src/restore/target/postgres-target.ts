import type pg from 'pg';
import { PROCESS } from '../../core/store/installation.ts';
import { lockRotations, type RotationLock } from '../../keyring-admin/lock.ts';
import { StartError } from '../../lib/start-error.ts';
import { ADMIN_LOCK } from '../../storage/postgres/bring-up.ts';
import { POOL_SESSIONS } from '../../storage/postgres/session-names.ts';
import { connectForLong, explainPostgres } from '../place/postgres-connection.ts';
import { PostgresPlace } from '../place/postgres-place.ts';
import { quoted } from '../place/postgres-tables.ts';
import type { Say } from '../say.ts';
import { type Ask, backupsSince, type Described, describe, requireKnownTables, type StoredFact } from './present.ts';
import { requireNoProcess } from './processes.ts';
import { type At, type Kept, stampOf, type Target } from './target.ts';

/** Beside the numbers of migrations, rotations and backups. */
const RESTORE_LOCK = 4_715_820_034;
/** The server may take a moment to notice that the process of an earlier run was killed. */
const TRIES_MAX = 20;
const TRY_EVERY_SECONDS = 0.05;
const ENDED_TRIES_MAX = 200;
/** How long others who use the tables are waited for. */
const LOCK_SECONDS = 10;

interface Parts {
  readonly url: string;
  readonly client: pg.Client;
  readonly rotations: RotationLock;
  /** Where the tables are, or are to be. */
  readonly schema: string;
  readonly present: Described | undefined;
}

/** The tables of a schema. One session holds the lock of restores, another that of rotations. */
export class PostgresTarget implements Target<PostgresPlace> {
  readonly name: string;
  readonly present: Described | undefined;
  readonly #url: string;
  readonly #client: pg.Client;
  readonly #rotations: RotationLock;
  readonly #schema: string;

  private constructor({ url, client, rotations, schema, present }: Parts) {
    const { host, port, database } = client;
    this.name = `the PostgreSQL database ${host}:${port}/${database ?? ''}`;
    this.present = present;
    this.#url = url;
    this.#client = client;
    this.#rotations = rotations;
    this.#schema = schema;
  }

  static async open(url: string, say: Say): Promise<PostgresTarget> {
    const client = await connectForLong(url);
    let rotations: RotationLock | undefined;
    try {
      await lockRestores(client);
      // Nobody rotates keys, or asks which processes run, meanwhile.
      rotations = await lockRotations(url);
      const schema = await schemaOf(client);
      const ask: Ask = async (text) => (await client.query(text)).rows;
      const known = await client.query('SELECT to_regclass($1) AS tables', [`${quoted(schema)}.schema_migration`]);
      const isPresent = known.rows[0].tables !== null;
      if (isPresent) {
        await client.query(`SET search_path TO ${quoted(schema)}, pg_temp`);
        await requireKnownTables(ask, 'the PostgreSQL database');
        await requireNoProcess(client, say);
      }
      const present = isPresent ? await describe(ask) : undefined;
      return new PostgresTarget({ url, client, rotations, schema, present });
    } catch (error) {
      await rotations?.release();
      await client.end().catch(() => {});
      throw explainPostgres(error);
    }
  }

  async makePlace(): Promise<PostgresPlace> {
    return await PostgresPlace.make(this.#url);
  }

  async backupsSince(sinceMs: number): Promise<readonly StoredFact[]> {
    if (this.present === undefined) return [];
    return await backupsSince(async (text) => (await this.#client.query(text)).rows, sinceMs);
  }

  /** In one transaction: other sessions see the tables as they were until it commits. */
  async swap(place: PostgresPlace, { discard, at }: { discard: boolean; at: At }): Promise<Kept | undefined> {
    const client = this.#client;
    const kept = `custos_before_restore_${stampOf(Date.now())}`;
    await this.#rotations.requireHeld();
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = '${LOCK_SECONDS}s'`);
      // A process that starts takes it before it makes itself known, and then looks for the tables.
      await client.query('SELECT pg_advisory_xact_lock($1)', [ADMIN_LOCK]);
      const tables = await tablesIn(client, place.schema);
      const old = (await tablesIn(client, this.#schema)).filter((name) => tables.includes(name));
      await this.#requireUnused(old);
      await at('folded');
      if (old.length > 0) {
        await client.query(`CREATE SCHEMA ${kept}`);
        await move(client, { from: this.#schema, to: kept, tables: old, like: place.schema });
      }
      await at('kept');
      await move(client, { from: place.schema, to: this.#schema, tables, like: place.schema });
      await client.query(`DROP SCHEMA ${place.schema}`);
      if (old.length > 0) await endSessions(client);
      await at('moved');
      const { command } = await client.query('COMMIT');
      if (command !== 'COMMIT') throw new Error('the exchange was rolled back');
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw explainPostgres(error);
    }
    await at('swapped');
    if (this.present === undefined) return undefined;
    const remove = `DROP SCHEMA ${kept} CASCADE`;
    if (!discard) return { place: `the schema ${kept}`, remove };
    await client.query(remove);
    return undefined;
  }

  async #requireUnused(old: readonly string[]): Promise<void> {
    if (this.present === undefined) {
      if (old.length === 0) return;
      throw new StartError(
        `the database has tables of the same names by now (${old.slice(0, 3).join(', ')}): a Custos service was started on it meanwhile, or they belong to another program; nothing was changed`,
      );
    }
    const { rows } = await this.#client.query('SELECT name FROM deployment WHERE starts_with(name, $1)', [PROCESS]);
    if (rows.length === 0) return;
    throw new StartError(
      'a Custos service was started on this database meanwhile: stop it, and run this again; nothing was changed',
    );
  }

  async release(): Promise<void> {
    await this.#rotations.release();
    await this.#client.end().catch(() => {});
  }
}

/**
 * A process that stood still when it was looked for would go on in the new tables with what it remembers of the old ones. The
 * tables are locked: a session that it opens from now on waits for the exchange, and then finds that there was one.
 */
async function endSessions(client: pg.Client): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename = current_user AND application_name = $1 AND pid <> pg_backend_pid()`,
      [POOL_SESSIONS],
    );
    if (rows.length === 0) return;
    if (tries === ENDED_TRIES_MAX)
      throw new StartError(
        `the PostgreSQL server does not end the sessions of another Custos process (${rows.map(({ pid }) => pid).join(', ')}): end them (pg_terminate_backend), and run this again; nothing was changed`,
      );
    await client.query('SELECT pg_sleep($1)', [TRY_EVERY_SECONDS]);
  }
}

async function lockRestores(client: pg.Client): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    if ((await client.query('SELECT pg_try_advisory_lock($1) AS taken', [RESTORE_LOCK])).rows[0].taken) return;
    await client.query('SELECT pg_sleep($1)', [TRY_EVERY_SECONDS]);
  }
  throw new StartError(
    'another `custos restore` is running on this database: wait until it has ended; nothing was changed',
  );
}

/** The schema that has the tables, or that would get them. */
async function schemaOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ schema: string | null }>(`SELECT coalesce(
    (SELECT nspname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE pg_class.oid = to_regclass('schema_migration')),
    current_schema()::text) AS schema`);
  const schema = rows[0]?.schema;
  if (schema) return schema;
  throw new StartError('the PostgreSQL database has no schema for tables: name one in the URL (search_path)');
}

async function tablesIn(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p') ORDER BY relname`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

interface Move {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly string[];
  /** The schema whose functions are those of ours. */
  readonly like: string;
}

/** Indexes and triggers go with their tables; functions are moved by name. */
async function move(client: pg.Client, { from, to, tables, like }: Move): Promise<void> {
  for (const table of tables)
    await client.query(`ALTER TABLE ${quoted(from)}.${quoted(table)} SET SCHEMA ${quoted(to)}`);
  const { rows } = await client.query<{ name: string }>(
    `SELECT moved.proname::text AS name FROM pg_proc AS moved JOIN pg_namespace AS place ON place.oid = moved.pronamespace
     WHERE place.nspname = $1 AND moved.pronargs = 0 AND EXISTS (SELECT 1 FROM pg_proc AS ours
       JOIN pg_namespace AS its ON its.oid = ours.pronamespace WHERE its.nspname = $2 AND ours.proname = moved.proname)`,
    [from, like],
  );
  for (const { name } of rows)
    await client.query(`ALTER FUNCTION ${quoted(from)}.${quoted(name)}() SET SCHEMA ${quoted(to)}`);
}
