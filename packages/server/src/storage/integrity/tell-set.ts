import type { Kysely } from 'kysely';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import type { Row } from './row.ts';

/** Tells the set that a marked row belongs to, if there is one, that the row is written; the transaction follows it. */
export function tellSet(db: Kysely<Schema>, table: string, row: Row, before?: Row): void {
  const { integrity, putInSet } = driverOf(db);
  if (integrity?.sets.of.has(table) !== true) return;
  if (putInSet === undefined)
    throw new Error(`rows of ${table} are written only in a transaction that follows their set`);
  putInSet(table, row, before);
}
