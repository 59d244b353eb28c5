import { sql } from 'kysely';
import type { AppliedMigration } from '../../storage/migrate.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import { Reader } from '../../storage/store.ts';

/**
 * `bootstrap` names the organization that the first start made; it makes two first starts at once give one.
 * `root_key_id` is the root key that everything is under, or is being moved away from while there is a `rotation`.
 * `retired_root_keys` may wrap nothing new. `feed_key` seals the cursors of feeds.
 */
export type InstallationFact =
  | 'root_key_id'
  | 'bootstrap'
  | 'deployment_key'
  | 'rotation'
  | 'retired_root_keys'
  | 'feed_key';

/** A running service process, and what it last said about a rotation; JSON in a row of its own. */
export interface ServiceProcess {
  readonly id: string;
  readonly state: string;
}

const PROCESS = 'process:';
/** Right behind every name that begins with the prefix. */
const BEHIND_PROCESS = 'process;';

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
    const rows = await this.db
      .selectFrom('deployment')
      .selectAll()
      .where('name', '>', PROCESS)
      .where('name', '<', BEHIND_PROCESS)
      .orderBy('name')
      .execute();
    return rows.map((row) => ({ id: row.name.slice(PROCESS.length), state: row.value }));
  }

  async appliedMigrations(): Promise<AppliedMigration[]> {
    const { rows } =
      await sql<AppliedMigration>`SELECT name, compatibility FROM schema_migration ORDER BY name`.execute(this.db);
    return rows;
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
    return (await this.db.selectFrom('organization').select('id').limit(1).executeTakeFirst()) !== undefined;
  }

  async #value(name: string): Promise<string | undefined> {
    const row = await this.db.selectFrom('deployment').select('value').where('name', '=', name).executeTakeFirst();
    return row?.value;
  }
}

export class InstallationStore extends InstallationReader {
  static readonly writes = true;

  async insertServiceKey(key: ServiceKey): Promise<void> {
    await this.db
      .insertInto('service_key')
      .values({
        role: key.role,
        key_id: key.keyId,
        public_key: key.publicKey,
        encoding: key.encoding,
        sealed_key: key.sealedKey,
        created_at_ms: key.createdAtMs,
        signs_from_ms: key.signsFromMs,
      })
      .execute();
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
