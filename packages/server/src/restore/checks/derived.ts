import { sql } from 'kysely';
import { Reader } from '../../storage/store.ts';

/** An account as it is stored, whatever its mark says: that is another check. */
export interface StoredAccount {
  readonly organization_id: string;
  readonly id: string;
  readonly wallet_id: string;
  readonly curve: string;
  readonly path: string;
  readonly path_key: string;
  readonly address_format: string;
  readonly address: string;
  readonly public_key: string;
}

export interface StoredKey {
  readonly organization_id: string;
  readonly id: string;
  readonly curve: string;
  readonly public_key: string;
  readonly sealed_key: Uint8Array;
}

export interface StoredKeyAddress {
  readonly address_format: string;
  readonly address: string;
}

interface Place {
  readonly organization_id: string;
  readonly id: string;
}

const WHY = sql.raw('/* partial: compared with what its key derives */');

/** What follows from keys, for those who derive it again. */
export class DerivedReader extends Reader {
  async count(table: 'wallet_account' | 'private_key'): Promise<number> {
    const { rows } = await sql<{ count: number }>`SELECT /* partial: a count */ count(*) AS count
      FROM ${sql.table(table)}`.execute(this.db);
    return Number(rows[0]?.count ?? 0);
  }

  /** Any of them, or all in the order of their keys behind a place. */
  async accounts(limit: number, after?: Place | 'any'): Promise<readonly StoredAccount[]> {
    const { rows } = await sql<StoredAccount>`SELECT ${WHY} organization_id, id, wallet_id, curve, path, path_key,
        address_format, address, public_key
      FROM wallet_account ${this.#order(after)} LIMIT ${sql.lit(limit)}`.execute(this.db);
    return rows;
  }

  async keys(limit: number, after?: Place | 'any'): Promise<readonly StoredKey[]> {
    const { rows } = await sql<StoredKey>`SELECT ${WHY} organization_id, id, curve, public_key, sealed_key
      FROM private_key ${this.#order(after)} LIMIT ${sql.lit(limit)}`.execute(this.db);
    return rows;
  }

  #order(after: Place | 'any' | undefined) {
    if (after === 'any') return sql`ORDER BY random()`;
    const behind =
      after === undefined ? sql`` : sql`WHERE (organization_id, id) > (${after.organization_id}, ${after.id})`;
    return sql`${behind} ORDER BY organization_id, id`;
  }

  async accountOn(curve: string): Promise<StoredAccount | undefined> {
    const { rows } = await sql<StoredAccount>`SELECT ${WHY} organization_id, id, wallet_id, curve, path, path_key,
        address_format, address, public_key
      FROM wallet_account WHERE curve = ${curve} LIMIT 1`.execute(this.db);
    return rows[0];
  }

  async keyOn(curve: string): Promise<StoredKey | undefined> {
    const { rows } = await sql<StoredKey>`SELECT ${WHY} organization_id, id, curve, public_key, sealed_key
      FROM private_key WHERE curve = ${curve} LIMIT 1`.execute(this.db);
    return rows[0];
  }

  async seed(organizationId: string, walletId: string): Promise<Uint8Array | undefined> {
    const { rows } = await sql<{ sealed_seed: Uint8Array }>`SELECT ${WHY} sealed_seed FROM wallet
      WHERE organization_id = ${organizationId} AND id = ${walletId}`.execute(this.db);
    return rows[0]?.sealed_seed;
  }

  async addressesOf({ organization_id, id }: Place): Promise<readonly StoredKeyAddress[]> {
    const { rows } = await sql<StoredKeyAddress>`SELECT ${WHY} address_format, address FROM private_key_address
      WHERE organization_id = ${organization_id} AND private_key_id = ${id}`.execute(this.db);
    return rows;
  }

  async hasAccount({ organization_id, id }: Place): Promise<boolean> {
    const { rows } = await sql`SELECT ${WHY} id FROM wallet_account
      WHERE organization_id = ${organization_id} AND id = ${id}`.execute(this.db);
    return rows.length > 0;
  }

  async hasKey({ organization_id, id }: Place): Promise<boolean> {
    const { rows } = await sql`SELECT ${WHY} id FROM private_key
      WHERE organization_id = ${organization_id} AND id = ${id}`.execute(this.db);
    return rows.length > 0;
  }
}
