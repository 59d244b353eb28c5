import { type Kysely, sql } from 'kysely';
import type { OrganizationId } from '../lib/ids.ts';
import type { DatabaseKind } from './dialect.ts';
import type { Schema } from './schema.ts';
import { type Statement, unnamed } from './statement.ts';

/** So much of what has expired goes with every new row, so that the tables stay small without a sweeper. */
const SWEPT = 100;

/** Which rows of an organization expire, and when. */
export interface Swept {
  readonly table: 'otp' | 'rate_window' | 'used_token' | 'sealed_result';
  /** The column that tells rows of an organization apart. */
  readonly key: string;
  readonly expiry: string;
}

interface Moment extends Record<string, unknown> {
  readonly organizationId: string;
  readonly nowMs: number;
}
const sweeps = new Map<string, Statement<Moment, unknown>>();

const sweepOf = (kind: DatabaseKind, { table, key, expiry }: Swept): Statement<Moment, unknown> => {
  // Rows that another sweep holds are left to it: two sweeps must not wait for each other.
  const skip = kind === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  return unnamed(
    (_db, { organizationId, nowMs }: Moment) => sql`DELETE FROM ${sql.table(table)}
    WHERE organization_id = ${organizationId} AND ${sql.ref(expiry)} <= ${nowMs}
    AND ${sql.ref(key)} IN (SELECT ${sql.ref(key)} FROM ${sql.table(table)}
      WHERE organization_id = ${organizationId} AND ${sql.ref(expiry)} <= ${nowMs} LIMIT ${SWEPT} ${skip})`,
  );
};

/** Deletes some rows of the organization that have expired. */
export async function sweepExpired(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  swept: Swept,
  organizationId: OrganizationId,
  nowMs: number,
): Promise<void> {
  const name = `${kind} ${swept.table}`;
  const sweep = sweeps.get(name) ?? sweepOf(kind, swept);
  sweeps.set(name, sweep);
  await sweep(db, { organizationId, nowMs });
}
