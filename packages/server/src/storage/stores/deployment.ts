import { type Kysely, sql } from 'kysely';
import type { ServiceKey } from '../../lib/model.ts';
import type { Schema } from '../schema.ts';

/** `bootstrap` names the organization that the first start made; it makes two first starts at once give one. */
export type DeploymentFact = 'root_key_id' | 'bootstrap' | 'deployment_key';

/** Facts about this deployment as a whole, such as the id of the root key its secrets are under. */
export class DeploymentReader {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  async get(name: DeploymentFact): Promise<string | undefined> {
    const row = await this.db.selectFrom('deployment').select('value').where('name', '=', name).executeTakeFirst();
    return row?.value;
  }

  async appliedMigrations(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`SELECT name FROM schema_migration ORDER BY name`.execute(this.db);
    return rows.map((row) => row.name);
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
    }));
  }

  async hasOrganization(): Promise<boolean> {
    return (await this.db.selectFrom('organization').select('id').limit(1).executeTakeFirst()) !== undefined;
  }
}

export class DeploymentStore extends DeploymentReader {
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
      })
      .execute();
  }

  /** False when another process was first. */
  async claim(name: DeploymentFact, value: string): Promise<boolean> {
    const result = await this.db
      .insertInto('deployment')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    return result.numInsertedOrUpdatedRows === 1n;
  }
}
