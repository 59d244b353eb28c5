import { type Kysely, sql } from 'kysely';
import type { OrganizationId } from '../lib/ids.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Schema } from './schema.ts';

/** So much of what has expired goes with every new row, so that the tables stay small without a sweeper. */
const SWEPT = 100;

/** Which rows of an organization expire, and when. */
export interface Swept {
  readonly table: 'otp' | 'rate_window' | 'used_token' | 'sealed_result';
  /** The column that tells rows of an organization apart. */
  readonly key: string;
  readonly expiry: string;
}

/** Deletes some rows of the organization that have expired. */
export async function sweepExpired(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  { table, key, expiry }: Swept,
  organizationId: OrganizationId,
  nowMs: number,
): Promise<void> {
  // Rows that another sweep holds are left to it: two sweeps must not wait for each other.
  const skip = kind === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  await sql`DELETE FROM ${sql.table(table)} WHERE organization_id = ${organizationId} AND ${sql.ref(expiry)} <= ${nowMs}
    AND ${sql.ref(key)} IN (SELECT ${sql.ref(key)} FROM ${sql.table(table)}
      WHERE organization_id = ${organizationId} AND ${sql.ref(expiry)} <= ${nowMs} LIMIT ${SWEPT} ${skip})`.execute(db);
}
