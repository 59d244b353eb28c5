import { sql } from 'kysely';
import { type NameSource, nameSource, type SignerRecord } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';
import { chunks } from '../../lib/collections.ts';
import { isUuid, type OrganizationId } from '../../lib/ids.ts';
import { everyColumn } from '../../storage/every-column.ts';
import { Reader } from '../../storage/store.ts';
import { WALLET_COLUMNS } from './store/wallets.ts';
import type { PrivateKeyTable } from './tables.ts';

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
  readonly name: string | null;
  readonly wallet_id: string;
  readonly w_name: string;
  readonly curve: string;
  readonly address: string;
  readonly address_key: string;
  readonly address_format: string;
  readonly public_key: string;
  readonly exported: number;
}

interface KeyRow {
  readonly k_id: string;
  readonly k_name: string;
  readonly k_curve: string;
  readonly k_public_key: string;
  readonly address: string | null;
  readonly address_key: string | null;
  readonly address_format: string | null;
}

const ALL_OF_WALLET = sql.join(WALLET_COLUMNS);
const KEY_COLUMNS = everyColumn<PrivateKeyTable & { private_key_mac: unknown }>({
  organization_id: true,
  id: true,
  name: true,
  curve: true,
  public_key: true,
  sealed_key: true,
  exported: true,
  imported: true,
  owned_digest: true,
  created_at_ms: true,
  updated_at_ms: true,
  private_key_mac: true,
});
const ALL_OF_KEY = sql.join(KEY_COLUMNS.map((column) => sql`k.${sql.ref(column)} AS ${sql.ref(`k_${column}`)}`));

/** What sentences call wallets, accounts and keys. Whoever approves something goes by it, so rows are read whole. */
class WalletNames extends Reader {
  async accounts(
    organizationId: OrganizationId,
    column: 'id' | 'address_key',
    keys: readonly string[],
  ): Promise<AccountRow[]> {
    const found: AccountRow[] = [];
    for (const some of chunks(keys)) {
      const { rows } = await sql<AccountRow>`SELECT a.*, ${ALL_OF_WALLET}
        FROM wallet_account a JOIN wallet ON wallet.organization_id = a.organization_id AND wallet.id = a.wallet_id
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
      const { rows } = await sql<KeyRow>`SELECT ${ALL_OF_KEY}, d.*
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
        SELECT /* partial wallet_account: a count */ w.*, (SELECT count(*) FROM wallet_account a
          WHERE a.organization_id = w.organization_id AND a.wallet_id = w.id) AS accounts
        FROM wallet w WHERE w.organization_id = ${organizationId} AND w.id IN (${sql.join(some)})`.execute(this.db);
      found.push(...rows);
    }
    return found;
  }
}

const ofAccount = (row: AccountRow): SignerRecord => ({
  name: row.name ?? row.w_name,
  address: row.address,
  walletId: row.wallet_id,
  curve: row.curve as SignerRecord['curve'],
  publicKey: row.public_key,
  addressFormat: row.address_format,
});

const ofKey = (row: KeyRow): SignerRecord => ({
  name: row.k_name,
  address: row.address ?? row.k_public_key,
  curve: row.k_curve as SignerRecord['curve'],
  publicKey: row.k_public_key,
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
      const known = found.get(row.k_id);
      const addressesOfKey =
        row.address === null ? [] : [{ address: row.address, addressFormat: row.address_format ?? '' }];
      found.set(row.k_id, { ...(known ?? ofKey(row)), addresses: [...(known?.addresses ?? []), ...addressesOfKey] });
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
        { name: row.name ?? row.w_name, address: row.address, isExported: row.exported === 1 },
      ]),
    );
  }),
  tableSource('privateKey', 'private_key', 'all', (row) => ({
    name: row['name'] as string,
    isExported: row['exported'] === 1,
  })),
];
