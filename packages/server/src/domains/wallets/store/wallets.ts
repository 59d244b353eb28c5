import { type Selectable, sql } from 'kysely';
import type { Curve } from '../../../core/model.ts';
import { chunks } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, WalletAccountId, WalletId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { addressKey } from '../../../storage/address-key.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { amend, amendOne } from '../../../storage/integrity/amend.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { namesOfRows, pageOfRows } from '../../../storage/organization-rows.ts';
import type { KeptValues } from '../../../storage/revisions.ts';
import { deferredInsertion, type NewRow, statement } from '../../../storage/statement.ts';
import { type Connection, keptValues, Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { Wallet, WalletAccount } from '../model.ts';
import type { WalletAccountTable, WalletTable } from '../tables.ts';

/** Accounts of one wallet that a statement deletes: many more would take longer than a statement may. */
const ROWS_PER_DELETE = 10_000;

export const toWallet = (row: Selectable<WalletTable>): Wallet => ({
  id: row.id as WalletId,
  name: row.name,
  sealedSeed: row.sealed_seed,
  exported: row.exported === 1,
  imported: row.imported === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const toAccount = (row: Selectable<WalletAccountTable>): WalletAccount => ({
  id: row.id as WalletAccountId,
  walletId: row.wallet_id as WalletId,
  name: row.name ?? undefined,
  curve: row.curve as Curve,
  path: row.path,
  pathKey: row.path_key,
  addressFormat: row.address_format,
  address: row.address,
  publicKey: row.public_key,
  exported: row.exported === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

/** Every column of a wallet beside its account's, under a name of its own: whoever reads them so has them verified. */
export const WALLET_COLUMNS = [
  sql<string>`wallet.organization_id`.as('w_organization_id'),
  sql<string>`wallet.id`.as('w_id'),
  sql<string>`wallet.name`.as('w_name'),
  sql<Uint8Array>`wallet.sealed_seed`.as('w_sealed_seed'),
  sql<number>`wallet.exported`.as('w_exported'),
  sql<number>`wallet.imported`.as('w_imported'),
  sql<number>`wallet.created_at_ms`.as('w_created_at_ms'),
  sql<number>`wallet.updated_at_ms`.as('w_updated_at_ms'),
  sql<string | null>`wallet.wallet_mac`.as('w_wallet_mac'),
] as const;

interface Key extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
}

const walletById = statement('wallet-by-id', (db, { organizationId, id }: Key) =>
  db.selectFrom('wallet').selectAll().where('organization_id', '=', organizationId).where('id', '=', id),
);
const accountById = statement('wallet-account-by-id', (db, { organizationId, id }: Key) =>
  db.selectFrom('wallet_account').selectAll().where('organization_id', '=', organizationId).where('id', '=', id),
);
const accountsByAddress = statement('wallet-accounts-by-address', (db, { organizationId, id }: Key) =>
  db
    .selectFrom('wallet_account')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('address_key', '=', id)
    .orderBy('id')
    .limit(10),
);

const insertWallets = deferredInsertion('wallet-insert', 'wallet', [
  'organization_id',
  'id',
  'name',
  'sealed_seed',
  'exported',
  'imported',
  'created_at_ms',
  'updated_at_ms',
]);
const insertAccounts = deferredInsertion('wallet-account-insert', 'wallet_account', [
  'organization_id',
  'id',
  'wallet_id',
  'name',
  'curve',
  'path',
  'path_key',
  'address_format',
  'address',
  'address_key',
  'public_key',
  'exported',
  'created_at_ms',
  'updated_at_ms',
]);

const fromAccount = (organizationId: OrganizationId, account: WalletAccount): NewRow<'wallet_account'> => ({
  organization_id: organizationId,
  id: account.id,
  wallet_id: account.walletId,
  name: account.name ?? null,
  curve: account.curve,
  path: account.path,
  path_key: account.pathKey,
  address_format: account.addressFormat,
  address: account.address,
  address_key: addressKey(account.address),
  public_key: account.publicKey,
  exported: account.exported ? 1 : 0,
  created_at_ms: account.createdAtMs,
  updated_at_ms: account.updatedAtMs,
});

const CURVES: readonly Curve[] = ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'];

/** What a path can be stored under: itself and, on Ed25519, with every level hardened. */
const pathKeysOf = (path: string): string[] => [...new Set([path, path.replace(/\d(?=\/|$)/g, "$&'")])];

export const walletNotFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'wallet not found in this organization');
export const accountNotFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'wallet account not found in this organization');

export class WalletReader extends Reader {
  readonly #known: KeptValues<Wallet> | undefined;

  constructor(connection: Connection) {
    super(connection);
    this.#known = keptValues(connection);
  }

  async find(organizationId: OrganizationId, walletId: string): Promise<Wallet | undefined> {
    const name = `${organizationId} ${walletId}`;
    const known = this.#known?.get(name);
    if (known !== undefined) return known;
    const moment = this.#known?.moment ?? 0;
    const [row] = await walletById(this.db, { organizationId, id: walletId });
    if (row === undefined) return undefined;
    const wallet = toWallet(row);
    this.#known?.keep(name, wallet, [walletId], moment);
    return wallet;
  }

  async get(organizationId: OrganizationId, walletId: string): Promise<Wallet> {
    const wallet = await this.find(organizationId, walletId);
    if (wallet === undefined) throw walletNotFound();
    return wallet;
  }

  async many(organizationId: OrganizationId, walletIds: readonly string[]): Promise<Wallet[]> {
    const wallets: Wallet[] = [];
    for (const ids of chunks(walletIds)) {
      const rows = await this.db
        .selectFrom('wallet')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('id', 'in', ids)
        .execute();
      wallets.push(...rows.map(toWallet));
    }
    return wallets;
  }

  /** What wallets are called, of those ids that are wallets of the organization. */
  async namesOf(organizationId: OrganizationId, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await namesOfRows(this.db, 'wallet', organizationId, ids);
  }

  /** The accounts at these addresses, each by its own name or that of its wallet; by address as look-ups compare it. */
  async namesOfAddresses(
    organizationId: OrganizationId,
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const keys of chunks([...new Set(addresses.map(addressKey))])) {
      const rows = await this.db
        .selectFrom('wallet_account')
        .modifyFront(partial('names to be shown'))
        .innerJoin('wallet', (join) =>
          join
            .onRef('wallet.organization_id', '=', 'wallet_account.organization_id')
            .onRef('wallet.id', '=', 'wallet_account.wallet_id'),
        )
        .select(['wallet_account.address_key', 'wallet_account.name', 'wallet.name as walletName'])
        .where('wallet_account.organization_id', '=', organizationId)
        .where('wallet_account.address_key', 'in', keys)
        .orderBy('wallet_account.id', 'desc')
        .execute();
      // The oldest last: an address that several accounts have is called by it.
      for (const row of rows) found.set(row.address_key, row.name ?? row.walletName);
    }
    return found;
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<Wallet>> {
    return await pageOfRows(this.db, 'wallet', organizationId, request, (rows) => rows.map(toWallet));
  }

  async account(organizationId: OrganizationId, accountId: string): Promise<WalletAccount | undefined> {
    const [row] = await accountById(this.db, { organizationId, id: accountId });
    return row === undefined ? undefined : toAccount(row);
  }

  /** Accounts with this address, oldest first. Several formats of one network class share addresses and keys. */
  async accountsByAddress(organizationId: OrganizationId, address: string): Promise<WalletAccount[]> {
    const rows = await accountsByAddress(this.db, { organizationId, id: addressKey(address) });
    return rows.map(toAccount);
  }

  /** The oldest account of a wallet with this address and path. Neither lookup reads the wallet's other accounts. */
  async accountInWallet(
    organizationId: OrganizationId,
    walletId: string,
    { address, path }: { readonly address?: string | undefined; readonly path?: string | undefined },
  ): Promise<WalletAccount | undefined> {
    const all = this.db.selectFrom('wallet_account').selectAll().where('organization_id', '=', organizationId);
    const query =
      address === undefined
        ? all
            .where('wallet_id', '=', walletId)
            .where('curve', 'in', CURVES)
            .where('path_key', 'in', pathKeysOf(path ?? ''))
        : // An expression, so that the address's index is taken and not the wallet's.
          all.where('address_key', '=', addressKey(address)).where(sql`wallet_id || ''`, '=', walletId);
    const rows = (await query.execute()).filter((row) => path === undefined || row.path === path);
    const [oldest] = rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    return oldest === undefined ? undefined : toAccount(oldest);
  }

  async accountsById(organizationId: OrganizationId, accountIds: readonly string[]): Promise<WalletAccount[]> {
    if (accountIds.length === 0) return [];
    const rows = await this.db
      .selectFrom('wallet_account')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...accountIds])
      .execute();
    return rows.map(toAccount);
  }

  async accounts(
    organizationId: OrganizationId,
    walletId: string | undefined,
    request: PageRequest,
  ): Promise<Page<WalletAccount>> {
    const toItems = (rows: Selectable<WalletAccountTable>[]): WalletAccount[] => rows.map(toAccount);
    const filter = walletId === undefined ? {} : { filter: sql`AND wallet_id = ${walletId}` };
    return await pageOfRows(this.db, 'wallet_account', organizationId, request, toItems, filter);
  }

  /** Whether anything in the organization was never exported; such an organization is not deleted by mistake. */
  async hasUnexported(organizationId: OrganizationId): Promise<boolean> {
    const row = await this.db
      .selectFrom('wallet')
      .modifyFront(
        partial(
          'whether a wallet is there: it keeps a deletion from being a mistake, and whoever writes rows can delete them',
        ),
      )
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('exported', '=', 0)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }
}

/** What was exported before stays as it is: a kit after a kit writes little. */
export const exportedUnlessBefore =
  (nowMs: number) =>
  ({ exported }: { readonly exported: number }) =>
    exported === 1 ? undefined : { exported: 1, updated_at_ms: nowMs };

export class WalletStore extends WalletReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  async insert(organizationId: OrganizationId, wallet: Wallet): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: wallet.id,
      name: wallet.name,
      sealed_seed: wallet.sealedSeed,
      exported: wallet.exported ? 1 : 0,
      imported: wallet.imported ? 1 : 0,
      created_at_ms: wallet.createdAtMs,
      updated_at_ms: wallet.updatedAtMs,
    };
    await insertWallets(this.db, [row]);
  }

  async insertAccounts(organizationId: OrganizationId, accounts: readonly WalletAccount[]): Promise<void> {
    await insertAccounts(
      this.db,
      accounts.map((account) => fromAccount(organizationId, account)),
    );
  }

  async rename(
    organizationId: OrganizationId,
    walletId: string,
    name: string | undefined,
    nowMs: number,
  ): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    await this.#amend(organizationId, walletId, { updated_at_ms: nowMs, ...(name === undefined ? {} : { name }) });
  }

  /** Accounts of an exported wallet count as exported, so their rows need no mark. The mark never goes away. */
  async markExported(organizationId: OrganizationId, walletId: string, nowMs: number): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    await this.#amend(organizationId, walletId, { exported: 1, updated_at_ms: nowMs });
  }

  /** The same of many, those that are still there. */
  async markAllExported(organizationId: OrganizationId, walletIds: readonly string[], nowMs: number): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    for (const ids of chunks(walletIds)) {
      const condition = sql`organization_id = ${organizationId} AND id IN (${sql.join(ids)})`;
      await amend(this.db, 'wallet', condition, exportedUnlessBefore(nowMs));
    }
  }

  /** Accounts that share an address share a key: who has exported one has exported all of them. */
  async markAddressExported(organizationId: OrganizationId, address: string, nowMs: number): Promise<void> {
    await this.#authority.altersWhatRulesRead(organizationId);
    const condition = sql`organization_id = ${organizationId} AND address_key = ${addressKey(address)}`;
    const change = () => ({ exported: 1, updated_at_ms: nowMs });
    if ((await amend(this.db, 'wallet_account', condition, change)).length === 0) throw accountNotFound();
  }

  async #amend(
    organizationId: OrganizationId,
    walletId: string,
    changes: Partial<Selectable<WalletTable>>,
  ): Promise<void> {
    const key = { organization_id: organizationId, id: walletId };
    if ((await amendOne(this.db, 'wallet', key, () => changes)) === undefined) throw walletNotFound();
  }

  async deleteAccounts(organizationId: OrganizationId, accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    const ids = [...accountIds];
    await this.db
      .deleteFrom('wallet_account')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .execute();
    await bury(this.db, organizationId, ids);
  }

  /** Deletes wallets with their seeds and accounts, and what the parent finds the accounts by. */
  async delete(organizationId: OrganizationId, walletIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    for (const walletId of walletIds) await this.#deleteAccountsOf(organizationId, walletId);
    for (const ids of chunks(walletIds)) {
      await this.db.deleteFrom('wallet').where('organization_id', '=', organizationId).where('id', 'in', ids).execute();
      await bury(this.db, organizationId, ids);
    }
  }

  /** In statements of bounded size that read no account: a wallet may have very many. */
  async #deleteAccountsOf(organizationId: OrganizationId, walletId: string): Promise<void> {
    const all = this.db
      .selectFrom('wallet_account')
      .where('organization_id', '=', organizationId)
      .where('wallet_id', '=', walletId);
    for (;;) {
      const last = await all
        .modifyFront(partial('an id, up to which rows are deleted'))
        .select('id')
        .orderBy('id')
        .offset(ROWS_PER_DELETE - 1)
        .limit(1)
        .executeTakeFirst();
      const some = last === undefined ? all : all.where('id', '<=', last.id);
      await this.db
        .insertInto('tombstone')
        .columns(['organization_id', 'id'])
        .expression(some.select(['organization_id', 'id']))
        .execute();
      await this.db
        .deleteFrom('tree_entry')
        .where('organization_id', '=', organizationId)
        .where('owner_id', 'in', some.select('id'))
        .execute();
      const deletion = this.db
        .deleteFrom('wallet_account')
        .where('organization_id', '=', organizationId)
        .where('wallet_id', '=', walletId);
      await (last === undefined ? deletion : deletion.where('id', '<=', last.id)).execute();
      if (last === undefined) return;
    }
  }
}
