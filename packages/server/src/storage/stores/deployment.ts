import type { Kysely } from 'kysely';
import type { Schema } from '../schema.ts';

/** Facts about this deployment as a whole, such as the id of the root key its secrets are under. */
export class DeploymentReader {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  async get(name: 'root_key_id'): Promise<string | undefined> {
    const row = await this.db.selectFrom('deployment').select('value').where('name', '=', name).executeTakeFirst();
    return row?.value;
  }

  async hasOrganization(): Promise<boolean> {
    return (await this.db.selectFrom('organization').select('id').limit(1).executeTakeFirst()) !== undefined;
  }
}

export class DeploymentStore extends DeploymentReader {
  /** False when another process was first. */
  async claim(name: 'root_key_id', value: string): Promise<boolean> {
    const result = await this.db
      .insertInto('deployment')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst();
    return result.numInsertedOrUpdatedRows === 1n;
  }
}
