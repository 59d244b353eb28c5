import { sql } from 'kysely';
import { isFields, isTexts, isTimes, storedJson } from '../../lib/stored-json.ts';
import { partial } from '../../storage/integrity/partial.ts';
import type { AppliedMigration } from '../../storage/migrate.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';

/**
 * `bootstrap` names the organization that the first start made; it makes two first starts at once give one.
 * `root_key_id` is the root key that everything is under, or is being moved away from while there is a `rotation`.
 * `retired_root_keys` were in use earlier and may wrap nothing new; `root_key_times` says since when each key was in use.
 * `ring_change` is another text whenever processes are to read their key ring again. `feed_key` seals the cursors of feeds.
 * `integrity` says whether rows are marked and whether they have to be; the key ring of each machine has the last word.
 * `integrity_rotation` says how far another integrity key is in taking the place of the one in use.
 * `restored` names the last restore of a backup: a process that finds another one than at its start remembers what was before.
 * `newest_restoration` is the id of the last row of restorations: where that row is missing, somebody else deleted it.
 */
export type InstallationFact =
  | 'root_key_id'
  | 'bootstrap'
  | 'deployment_key'
  | 'rotation'
  | 'retired_root_keys'
  | 'root_key_times'
  | 'ring_change'
  | 'feed_key'
  | 'integrity'
  | 'integrity_rotation'
  | 'restored'
  | 'newest_restoration';

/** A running service process, and what it last said about a rotation; JSON in a row of its own. */
export interface ServiceProcess {
  readonly id: string;
  readonly state: string;
}

/** A backup of this database that somebody may want to restore; JSON in a row of its own. */
export interface BackupRecord {
  readonly id: string;
  readonly takenAtMs: number;
  /** Without these the backup opens nothing. */
  readonly rootKeyIds: readonly string[];
  /** Where it was written to, as whoever took it said. */
  readonly place: string;
  /** What it has beside that, where `custos backup` made it. */
  readonly integrityKeyIds?: readonly string[];
  readonly bytes?: number;
  /** Of the file, in hexadecimal. */
  readonly sha256?: string;
  readonly rows?: number;
  readonly version?: string;
  readonly hasKeys?: boolean;
}

const insertServiceKeys = insertion('service-key-insert', 'service_key', [
  'role',
  'key_id',
  'public_key',
  'encoding',
  'sealed_key',
  'created_at_ms',
  'signs_from_ms',
]);

export const PROCESS = 'process:';
export const BACKUP = 'backup:';
const ORGANIZATION_KEY = 'organization-key:';

const isBackup = (value: unknown): value is BackupRecord & Record<string, unknown> =>
  isFields(value) && isTexts(value.rootKeyIds);

/** What a row says of a backup. */
export const readBackupRow = (name: string, value: string): BackupRecord => ({
  ...storedJson(name, value, isBackup),
  id: name.slice(BACKUP.length),
});

/** Facts about this deployment as a whole, such as the id of the root key its secrets are under. */
export class InstallationReader extends Reader {
  async get(name: InstallationFact): Promise<string | undefined> {
    return await this.#value(name);
  }

  async facts(names: readonly InstallationFact[]): Promise<ReadonlyMap<InstallationFact, string>> {
    const rows = await this.db.selectFrom('deployment').selectAll().where('name', 'in', names).execute();
    return new Map(rows.map((row) => [row.name as InstallationFact, row.value]));
  }

  /** The state of one process; undefined when it is not known. */
  async process(id: string): Promise<string | undefined> {
    return await this.#value(`${PROCESS}${id}`);
  }

  async processes(): Promise<ServiceProcess[]> {
    return (await this.#named(PROCESS)).map(([id, state]) => ({ id, state }));
  }

  async backups(): Promise<BackupRecord[]> {
    return (await this.#named(BACKUP)).map(([id, value]) => readBackupRow(`${BACKUP}${id}`, value));
  }

  /** Since when an organization has a new key beside its earlier one. */
  async organizationKeySinceMs(organizationId: string): Promise<number | undefined> {
    const value = await this.#value(`${ORGANIZATION_KEY}${organizationId}`);
    return value === undefined ? undefined : Number(value);
  }

  /** When the schema was first made; the first root key is as old. */
  async createdAtMs(): Promise<number | undefined> {
    const { rows } = await sql<{ first: number | null }>`
      SELECT min(applied_at_ms) AS first FROM schema_migration`.execute(this.db);
    const first = rows[0]?.first;
    return first === null || first === undefined ? undefined : Number(first);
  }

  /**
   * The newest time that requests stored anything at, by the clock of the process that served them; for each organization
   * one look at an index.
   */
  async newestTimeMs(): Promise<number | undefined> {
    const { rows } = await sql<{ newest: number | string | null }>`
      SELECT /* partial: a time */ max(moment) AS newest FROM (
        SELECT updated_at_ms AS moment FROM organization
        UNION ALL
        SELECT (SELECT max(created_at_ms) FROM activity WHERE activity.organization_id = organization.id) FROM organization
      ) AS times`.execute(this.db);
    const newest = rows[0]?.newest;
    return newest === null || newest === undefined ? undefined : Number(newest);
  }

  /** The newest time that a command about keys, or a first start, wrote down: by its own clock. */
  async newestKeyTimeMs(): Promise<number> {
    const { rows } = await sql<{ newest: number | string | null }>`
      SELECT /* partial: a time */ max(created_at_ms) AS newest FROM service_key`.execute(this.db);
    const since = storedJson('root_key_times', (await this.get('root_key_times')) ?? '{}', isTimes);
    return Math.max(Number(rows[0]?.newest ?? 0), ...Object.values(since));
  }

  async appliedMigrations(): Promise<AppliedMigration[]> {
    const { rows } =
      await sql<AppliedMigration>`SELECT name, compatibility FROM schema_migration ORDER BY name`.execute(this.db);
    return rows;
  }

  /** The time of the database, for `transactionsBefore`; PostgreSQL alone. */
  async transactionClock(): Promise<string> {
    const { rows } = await sql<{ now: string }>`SELECT clock_timestamp()::text AS now`.execute(this.db);
    return rows[0]?.now ?? '';
  }

  /** How many transactions of the service's own role began before that and have not ended. */
  async transactionsBefore(clock: string): Promise<number> {
    const { rows } = await sql<{ open: number | string }>`SELECT count(*) AS open FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        AND xact_start < ${clock}::timestamptz`.execute(this.db);
    return Number(rows[0]?.open ?? 0);
  }

  /** The service's own keys; of several for a role the newest is the active one. */
  async serviceKeys(): Promise<ServiceKey[]> {
    const rows = await this.db
      .selectFrom('service_key')
      .selectAll()
      .orderBy('role')
      .orderBy('created_at_ms', 'desc')
      .execute();
    return rows.map((row) => ({
      role: row.role,
      keyId: row.key_id,
      publicKey: row.public_key,
      encoding: row.encoding as ServiceKey['encoding'],
      sealedKey: row.sealed_key,
      createdAtMs: row.created_at_ms,
      signsFromMs: row.signs_from_ms,
    }));
  }

  /** As the database calls it. */
  async databaseVersion(): Promise<string> {
    const version = this.kind === 'sqlite' ? sql`sqlite_version()` : sql`current_setting('server_version')`;
    const { rows } = await sql<{ version: string }>`SELECT ${version} AS version`.execute(this.db);
    return rows[0]?.version ?? '';
  }

  async hasOrganization(): Promise<boolean> {
    return (
      (await this.db
        .selectFrom('organization')
        .modifyFront(partial('whether one is there'))
        .select('id')
        .limit(1)
        .executeTakeFirst()) !== undefined
    );
  }

  /** The rows whose names begin with the prefix, by what follows it. */
  async #named(prefix: string): Promise<[rest: string, value: string][]> {
    const behind = `${prefix.slice(0, -1)};`;
    const rows = await this.db
      .selectFrom('deployment')
      .selectAll()
      .where('name', '>', prefix)
      .where('name', '<', behind)
      .orderBy('name')
      .execute();
    return rows.map((row) => [row.name.slice(prefix.length), row.value]);
  }

  async #value(name: string): Promise<string | undefined> {
    const row = await this.db.selectFrom('deployment').select('value').where('name', '=', name).executeTakeFirst();
    return row?.value;
  }
}

export class InstallationStore extends InstallationReader {
  static readonly writes = true;

  async insertServiceKey(key: ServiceKey): Promise<void> {
    const row = {
      role: key.role,
      key_id: key.keyId,
      public_key: key.publicKey,
      encoding: key.encoding,
      sealed_key: key.sealedKey,
      created_at_ms: key.createdAtMs,
      signs_from_ms: key.signsFromMs,
    };
    await insertServiceKeys(this.db, [row]);
  }

  async deleteServiceKeys(role: string, keyIds: readonly string[]): Promise<void> {
    if (keyIds.length === 0) return;
    await this.db.deleteFrom('service_key').where('role', '=', role).where('key_id', 'in', keyIds).execute();
  }

  async put(name: InstallationFact, value: string): Promise<void> {
    await this.#put(name, value);
  }

  /** False when the fact is another one by now. */
  async exchange(name: InstallationFact, from: string, to: string): Promise<boolean> {
    const result = await this.db
      .updateTable('deployment')
      .set({ value: to })
      .where('name', '=', name)
      .where('value', '=', from)
      .executeTakeFirst();
    return result.numUpdatedRows === 1n;
  }

  async remove(name: InstallationFact): Promise<void> {
    await this.db.deleteFrom('deployment').where('name', '=', name).execute();
  }

  async putProcess({ id, state }: ServiceProcess): Promise<void> {
    await this.#put(`${PROCESS}${id}`, state);
  }

  async removeProcess(id: string): Promise<void> {
    await this.db.deleteFrom('deployment').where('name', '=', `${PROCESS}${id}`).execute();
  }

  async putOrganizationKeySince(organizationId: string, sinceMs: number): Promise<void> {
    await this.#put(`${ORGANIZATION_KEY}${organizationId}`, String(sinceMs));
  }

  async removeOrganizationKeySince(organizationId: string): Promise<void> {
    await this.db.deleteFrom('deployment').where('name', '=', `${ORGANIZATION_KEY}${organizationId}`).execute();
  }

  async putBackup({ id, ...backup }: BackupRecord): Promise<void> {
    await this.#put(`${BACKUP}${id}`, JSON.stringify(backup));
  }

  /** A record as another database has it, whatever its version put there. */
  async carryBackup(id: string, value: string): Promise<void> {
    await this.#put(`${BACKUP}${id}`, value);
  }

  async removeBackup(id: string): Promise<void> {
    await this.db.deleteFrom('deployment').where('name', '=', `${BACKUP}${id}`).execute();
  }

  /** Shows with its commit that the database takes writes, and leaves nothing behind. */
  async probe(id: string): Promise<void> {
    const name = `probe:${id}`;
    await this.#put(name, '');
    await this.db.deleteFrom('deployment').where('name', '=', name).execute();
  }

  async #put(name: string, value: string): Promise<void> {
    await this.db
      .insertInto('deployment')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }

  /** False when another process was first. */
  async claim(name: InstallationFact, value: string): Promise<boolean> {
    const result = await this.db
      .insertInto('deployment')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    return result.numInsertedOrUpdatedRows === 1n;
  }
}
