import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

const BATCH = 100;

/**
 * How many replicas a deployment asks for, beside the manifest that says so: whoever counts them need not read that.
 */
export const deploymentReplicas: Migration = {
  name: '0012-deployment-replicas',
  compatibility: 'contract',
  async up(db: Kysely<Schema>): Promise<void> {
    await sql`ALTER TABLE tvc_deployment ADD COLUMN replicas integer NOT NULL DEFAULT 0`.execute(db);
    for (let after = ''; ; ) {
      const { rows } = await sql<{ id: string; manifest: string }>`
        SELECT id, manifest FROM tvc_deployment WHERE id > ${after} ORDER BY id LIMIT ${BATCH}`.execute(db);
      for (const { id, manifest } of rows) {
        const { replicas } = JSON.parse(manifest) as { replicas: number };
        await sql`UPDATE tvc_deployment SET replicas = ${replicas} WHERE id = ${id}`.execute(db);
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  },
};
