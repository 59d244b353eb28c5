import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { ArchiveHeader, ArchivePart } from '../../backup/archive/parts.ts';
import { dataModel } from '../../domains.ts';
import type { Storage } from '../../storage/storage.ts';
import { type Filled, fill } from './fill.ts';
import type { FillOptions, ScratchPlace } from './place.ts';
import { connectForLong, explainPostgres } from './postgres-connection.ts';
import { PostgresTables, quoted } from './postgres-tables.ts';

const PREFIX = 'custos_scratch_';
const NAMES = `^${PREFIX}[0-9a-f]{8}$`;
/** Locks of scratch schemas have this number, and one of their own from their names. */
const LOCKS = 471_582_004;
const POOL = 4;
/** Nobody waits for an answer, and some of it goes over whole tables. */
const TIMEOUT_MS = 600_000;

/** A schema of its own. While somebody works with it, a session has its lock, which the server releases with the session. */
export class PostgresPlace implements ScratchPlace {
  readonly kind = 'postgres';
  readonly schema: string;
  readonly #url: string;
  readonly #client: pg.Client;
  #storage: Storage | undefined;

  private constructor(url: string, client: pg.Client, schema: string) {
    this.#url = url;
    this.#client = client;
    this.schema = schema;
  }

  /** Removes what killed runs have left, and makes a place. */
  static async make(url: string): Promise<PostgresPlace> {
    const client = await connectForLong(url);
    try {
      await removeLeftovers(client);
      const schema = `${PREFIX}${randomBytes(4).toString('hex')}`;
      await tryLock(client, schema);
      await client.query(`CREATE SCHEMA ${schema}; SET search_path TO ${schema}, pg_temp`);
      return new PostgresPlace(url, client, schema);
    } catch (error) {
      await client.end().catch(() => {});
      throw explainPostgres(error);
    }
  }

  async fill(header: ArchiveHeader, parts: AsyncIterable<ArchivePart>, options: FillOptions): Promise<Filled> {
    try {
      // Only what makes it the database has to be durable, and that makes durable what was written before it.
      await this.#client.query('SET synchronous_commit TO off');
      const filled = await fill(new PostgresTables(this.#client), header, parts, options);
      await this.#client.query('SET synchronous_commit TO on');
      // Otherwise plans would be those for empty tables, until the server has looked at them by itself.
      options.say('collecting statistics');
      const { rows } = await this.#client.query<{ name: string }>(
        "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
      );
      for (const { name } of rows) await this.#client.query(`ANALYZE ${quoted(name)}`);
      return filled;
    } catch (error) {
      throw explainPostgres(error);
    }
  }

  async open(): Promise<Storage> {
    const { openPostgres } = await import('../../storage/postgres.ts');
    this.#storage = await openPostgres({
      url: searching(this.#url, this.schema),
      poolSize: POOL,
      timeoutMs: TIMEOUT_MS,
      dataModel,
      nowMs: Date.now(),
      onIdleError: () => {},
    });
    return this.#storage;
  }

  async close(): Promise<void> {
    const storage = this.#storage;
    this.#storage = undefined;
    await storage?.close();
  }

  async remove(): Promise<void> {
    await this.close();
    // A statement may be under way; what it holds is free once the session is over.
    await this.#client.end().catch(() => {});
    const client = await connectForLong(this.#url);
    try {
      await client.query(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** The place is not there any more once somebody else has its lock, which a killed run has no longer. */
async function removeLeftovers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>('SELECT nspname AS name FROM pg_namespace WHERE nspname ~ $1', [
    NAMES,
  ]);
  for (const { name } of rows) {
    if (!(await tryLock(client, name))) continue;
    await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
    await client.query('SELECT pg_advisory_unlock($1, $2)', lockOf(name));
  }
}

async function tryLock(client: pg.Client, schema: string): Promise<boolean> {
  return (await client.query('SELECT pg_try_advisory_lock($1, $2) AS taken', lockOf(schema))).rows[0].taken;
}

const lockOf = (schema: string): [number, number] => [LOCKS, Number.parseInt(schema.slice(PREFIX.length), 16) | 0];

/** Every session over this address searches the schema, whatever the database or the role has for a default. */
function searching(address: string, schema: string): string {
  const url = new URL(address);
  const before = url.searchParams.get('options');
  const ours = `-c search_path=${schema},pg_temp`;
  url.searchParams.set('options', before === null ? ours : `${before} ${ours}`);
  return url.toString();
}
