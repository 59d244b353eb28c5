import type { Kysely } from 'kysely';
import type { OrganizationId } from '../../../lib/ids.ts';
import { addressKey } from '../../../storage/address-key.ts';
import type { KeptValues } from '../../../storage/revisions.ts';
import type { Schema } from '../../../storage/schema.ts';
import { statement } from '../../../storage/statement.ts';
import { type Connection, keptValues, Reader } from '../../../storage/store.ts';
import type { PrivateKey, Wallet, WalletAccount } from '../model.ts';
import { PrivateKeyReader } from './private-keys.ts';
import { toAccount, toWallet, WALLET_COLUMNS } from './wallets.ts';

/** What a signature is made with: an account and its wallet, or a private key. */
export type StoredSigner =
  | { readonly kind: 'wallet-account'; readonly account: WalletAccount; readonly wallet: Wallet }
  | { readonly kind: 'private-key'; readonly key: PrivateKey };

export type SignerName = { readonly id: string } | { readonly address: string };

interface Key extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
}

/** An account with the wallet it is derived from: all that a signature and its rules need, in one statement. */
const accounts = (db: Kysely<Schema>, organizationId: string) =>
  db
    .selectFrom('wallet_account')
    .innerJoin('wallet', (join) =>
      join
        .onRef('wallet.organization_id', '=', 'wallet_account.organization_id')
        .onRef('wallet.id', '=', 'wallet_account.wallet_id'),
    )
    .selectAll('wallet_account')
    .select(WALLET_COLUMNS)
    .where('wallet_account.organization_id', '=', organizationId);
const accountById = statement('wallet-signer-by-id', (db, { organizationId, id }: Key) =>
  accounts(db, organizationId).where('wallet_account.id', '=', id),
);
const accountByAddress = statement('wallet-signer-by-address', (db, { organizationId, id }: Key) =>
  accounts(db, organizationId).where('wallet_account.address_key', '=', id).orderBy('wallet_account.id').limit(1),
);

/** Finds what signs, and keeps it while none of its rows changes (docs/decisions/0049). */
export class SignerReader extends Reader {
  readonly #known: KeptValues<StoredSigner> | undefined;
  readonly #privateKeys: PrivateKeyReader;

  constructor(connection: Connection) {
    super(connection);
    this.#known = keptValues(connection);
    this.#privateKeys = new PrivateKeyReader(connection);
  }

  /** An account before a private key; of several accounts at one address the oldest. */
  async find(organizationId: OrganizationId, by: SignerName): Promise<StoredSigner | undefined> {
    const named = 'id' in by ? by.id : addressKey(by.address);
    const name = `${organizationId} ${'id' in by ? 'id' : 'address'} ${named}`;
    const known = this.#known?.get(name);
    if (known !== undefined) return known;
    const moment = this.#known?.moment ?? 0;
    const found = (await this.#account(organizationId, by)) ?? (await this.#privateKey(organizationId, by));
    // The name itself too: a row that comes may be found before this one.
    if (found !== undefined) this.#known?.keep(name, found, [named, ...rowsOf(found)], moment);
    return found;
  }

  async #account(organizationId: OrganizationId, by: SignerName): Promise<StoredSigner | undefined> {
    const [row] =
      'id' in by
        ? await accountById(this.db, { organizationId, id: by.id })
        : await accountByAddress(this.db, { organizationId, id: addressKey(by.address) });
    if (row === undefined) return undefined;
    const wallet = toWallet({
      organization_id: row.w_organization_id,
      id: row.w_id,
      name: row.w_name,
      sealed_seed: row.w_sealed_seed,
      exported: row.w_exported,
      imported: row.w_imported,
      created_at_ms: row.w_created_at_ms,
      updated_at_ms: row.w_updated_at_ms,
    });
    return { kind: 'wallet-account', account: toAccount(row), wallet };
  }

  async #privateKey(organizationId: OrganizationId, by: SignerName): Promise<StoredSigner | undefined> {
    const key =
      'id' in by
        ? await this.#privateKeys.find(organizationId, by.id)
        : await this.#privateKeys.byAddress(organizationId, by.address);
    return key && { kind: 'private-key', key };
  }
}

const rowsOf = (found: StoredSigner): readonly string[] =>
  found.kind === 'private-key' ? [found.key.id] : [found.account.id, found.wallet.id];
