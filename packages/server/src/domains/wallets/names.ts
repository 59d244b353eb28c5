import { sql } from 'kysely';
import { type NameSource, nameSource, type SignerRecord } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';
import { chunks } from '../../lib/collections.ts';
import { isUuid, type OrganizationId } from '../../lib/ids.ts';
import { Reader } from '../../storage/store.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    wallet: { readonly name: string; readonly isExported: boolean; readonly accountCount: number };
    /** By id. */
    walletAccount: { readonly name: string; readonly address: string; readonly isExported: boolean };
    privateKey: { readonly name: string; readonly isExported: boolean };
  }
}

interface AccountRow {
  readonly id: string;
  readonly account_name: string | null;
  readonly wallet_id: string;
  readonly wallet_name: string;
  readonly curve: string;
  readonly address: string;
  readonly address_key: string;
  readonly address_format: string;
  readonly public_key: string;
  readonly exported: number;
}

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly curve: string;
  readonly public_key: string;
  readonly address: string | null;
  readonly address_key: string | null;
  readonly address_format: string | null;
}

/** What sentences call wallets, accounts and keys; no sealed column is read. */
class WalletNames extends Reader {
  async accounts(
    organizationId: OrganizationId,
    column: 'id' | 'address_key',
    keys: readonly string[],
  ): Promise<AccountRow[]> {
    const found: AccountRow[] = [];
    for (const some of chunks(keys)) {
      const { rows } = await sql<AccountRow>`SELECT a.id, a.name AS account_name, a.wallet_id, w.name AS wallet_name,
          a.curve, a.address, a.address_key, a.address_format, a.public_key, a.exported
        FROM wallet_account a JOIN wallet w ON w.organization_id = a.organization_id AND w.id = a.wallet_id
        WHERE a.organization_id = ${organizationId} AND ${sql.ref(`a.${column}`)} IN (${sql.join(some)})
        ORDER BY a.id DESC`.execute(this.db);
      found.push(...rows);
    }
    return found;
  }

  /** A row for each address. */
  async keys(
    organizationId: OrganizationId,
    column: 'k.id' | 'd.address_key',
    keys: readonly string[],
  ): Promise<KeyRow[]> {
    const found: KeyRow[] = [];
    for (const some of chunks(keys)) {
      const { rows } =
        await sql<KeyRow>`SELECT k.id, k.name, k.curve, k.public_key, d.address, d.address_key, d.address_format
        FROM private_key k LEFT JOIN private_key_address d
          ON d.organization_id = k.organization_id AND d.private_key_id = k.id
        WHERE k.organization_id = ${organizationId} AND ${sql.ref(column)} IN (${sql.join(some)})
        ORDER BY k.id, d.position`.execute(this.db);
      found.push(...rows);
    }
    return found;
  }

  async wallets(
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<{ id: string; name: string; exported: number; accounts: number }[]> {
    const found: { id: string; name: string; exported: number; accounts: number }[] = [];
    for (const some of chunks(ids)) {
      const { rows } = await sql<{ id: string; name: string; exported: number; accounts: number }>`
        SELECT w.id, w.name, w.exported, (SELECT count(*) FROM wallet_account a
          WHERE a.organization_id = w.organization_id AND a.wallet_id = w.id) AS accounts
        FROM wallet w WHERE w.organization_id = ${organizationId} AND w.id IN (${sql.join(some)})`.execute(this.db);
      found.push(...rows);
    }
    return found;
  }
}

const ofAccount = (row: AccountRow): SignerRecord => ({
  name: row.account_name ?? row.wallet_name,
  address: row.address,
  walletId: row.wallet_id,
  curve: row.curve as SignerRecord['curve'],
  publicKey: row.public_key,
  addressFormat: row.address_format,
});

const ofKey = (row: KeyRow): SignerRecord => ({
  name: row.name,
  address: row.address ?? row.public_key,
  curve: row.curve as SignerRecord['curve'],
  publicKey: row.public_key,
  addressFormat: row.address_format ?? 'ADDRESS_FORMAT_COMPRESSED',
});

export const names: readonly NameSource[] = [
  nameSource('signer', async ({ read, organizationId }, keys) => {
    const reader = read(WalletNames);
    const ids = keys.map((key) => key.toLowerCase()).filter(isUuid);
    const addresses = keys.filter((key) => !isUuid(key.toLowerCase()));
    const [byId, byAddress, keysById, keysByAddress] = await Promise.all([
      reader.accounts(organizationId, 'id', ids),
      reader.accounts(organizationId, 'address_key', addresses),
      reader.keys(organizationId, 'k.id', ids),
      reader.keys(organizationId, 'd.address_key', addresses),
    ]);
    const found = new Map<string, SignerRecord>();
    for (const row of keysByAddress) found.set(row.address_key ?? '', ofKey(row));
    for (const row of keysById) {
      const known = found.get(row.id);
      const addressesOfKey =
        row.address === null ? [] : [{ address: row.address, addressFormat: row.address_format ?? '' }];
      found.set(row.id, { ...(known ?? ofKey(row)), addresses: [...(known?.addresses ?? []), ...addressesOfKey] });
    }
    for (const row of byAddress) found.set(row.address_key, ofAccount(row));
    for (const row of byId) found.set(row.id, ofAccount(row));
    return found;
  }),
  nameSource('wallet', async ({ read, organizationId }, ids) => {
    const rows = await read(WalletNames).wallets(organizationId, ids);
    return new Map(
      rows.map(({ id, name, exported, accounts }) => [
        id,
        { name, isExported: exported === 1, accountCount: Number(accounts) },
      ]),
    );
  }),
  nameSource('walletAccount', async ({ read, organizationId }, ids) => {
    const rows = await read(WalletNames).accounts(organizationId, 'id', ids);
    return new Map(
      rows.map((row) => [
        row.id,
        { name: row.account_name ?? row.wallet_name, address: row.address, isExported: row.exported === 1 },
      ]),
    );
  }),
  tableSource('privateKey', 'private_key', ['name', 'exported'], (row) => ({
    name: row['name'] as string,
    isExported: row['exported'] === 1,
  })),
];
