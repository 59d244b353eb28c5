import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';

/** `bootstrap` names the organization that the first start made; it makes two first starts at once give one. */
export type DeploymentFact = 'root_key_id' | 'bootstrap';

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

  async hasOrganization(): Promise<boolean> {
    return (await this.db.selectFrom('organization').select('id').limit(1).executeTakeFirst()) !== undefined;
  }
}

export class DeploymentStore extends DeploymentReader {
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
