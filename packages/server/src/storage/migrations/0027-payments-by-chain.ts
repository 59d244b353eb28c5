import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * A payment on one chain says nothing of the same address on another. Payments that were noted before have no chain: they
 * are compared for look-alikes, and count as payments nowhere.
 */
export const paymentsByChain: Migration = {
  name: '0027-payments-by-chain',
  // An older process goes on noting payments, without a chain: whom it pays counts as never paid, which asks for more care.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    if (kind === 'postgres') {
      await sql`ALTER TABLE payment ADD COLUMN chain text COLLATE "C" NOT NULL DEFAULT '', DROP CONSTRAINT payment_pkey`.execute(
        db,
      );
      await sql`ALTER TABLE payment ADD PRIMARY KEY (organization_id, looks, recipient, chain, activity_id)`.execute(
        db,
      );
      return;
    }
    await sql`CREATE TABLE payment_by_chain (
      organization_id text NOT NULL, looks text NOT NULL, recipient text NOT NULL, chain text NOT NULL DEFAULT '',
      activity_id text NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, looks, recipient, chain, activity_id))`.execute(db);
    await sql`INSERT INTO payment_by_chain (organization_id, looks, recipient, activity_id, created_at_ms)
      SELECT organization_id, looks, recipient, activity_id, created_at_ms FROM payment`.execute(db);
    await sql`DROP TABLE payment`.execute(db);
    await sql`ALTER TABLE payment_by_chain RENAME TO payment`.execute(db);
  },
};
