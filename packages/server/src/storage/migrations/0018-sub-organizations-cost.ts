import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * Which part of what a tree costs the operator its sub-organizations have asked for. What was counted before is nobody's
 * part, so the first day after an upgrade begins at nothing.
 */
export const subOrganizationsCost: Migration = {
  name: '0018-sub-organizations-cost',
  // An older process does not count here: it has no such limit, and the tree's own count, which it keeps, goes on.
  compatibility: 'expand',
  async up(db: Kysely<Schema>): Promise<void> {
    await sql`ALTER TABLE sponsored_cost ADD COLUMN sub_organizations_cost bigint NOT NULL DEFAULT 0`.execute(db);
  },
};
