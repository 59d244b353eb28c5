import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** The feature of the sign-up proxy could be set and removed without the proxy; from here on it tells what is so. */
export const proxyFeature: Migration = {
  name: '0019-proxy-feature',
  // An older process reads the feature nowhere but in lists.
  compatibility: 'expand',
  async up(db: Kysely<Schema>): Promise<void> {
    const name = 'FEATURE_NAME_AUTH_PROXY';
    await sql`DELETE FROM organization_feature WHERE name = ${name} AND (value = 'false' OR organization_id NOT IN
      (SELECT organization_id FROM auth_proxy_config WHERE enabled = 1))`.execute(db);
    await sql`INSERT INTO organization_feature (organization_id, name, value)
      SELECT DISTINCT organization_id, ${sql.lit(name)}, 'true' FROM auth_proxy_config
      WHERE enabled = 1 AND organization_id NOT IN
        (SELECT organization_id FROM organization_feature WHERE name = ${name})`.execute(db);
  },
};
