import { type AddressFormat, addressOf, type Curve, type Holder, type Keyring, KeyringError } from '@custos/keyring';
import { SealedReader } from '../../core/store/sealed.ts';
import { groupBy } from '../../lib/collections.ts';
import { printable } from '../../lib/printable.ts';
import type { Storage } from '../../storage/storage.ts';
import { DerivedReader, type StoredAccount, type StoredKey } from './derived.ts';
import { signsAs } from './signature.ts';

const PAGE = 500;
/** The keyring has a thread for each, on most machines. */
const AT_ONCE = 4;

/** How many of each kind are looked at. */
export type Sample = number | 'all';

/** An account or a private key whose sealed key is not the one that its row names. */
export interface WrongAddress {
  readonly table: 'wallet_account' | 'private_key';
  readonly organizationId: string;
  readonly id: string;
  /** In a few words. */
  readonly because: string;
}

export interface ComparedAddresses {
  /** Accounts and private keys that were looked at, and how many there are. */
  readonly compared: number;
  readonly of: number;
  readonly wrong: number;
}

export interface Comparing {
  readonly sample: Sample;
  readonly report: (wrong: WrongAddress) => void;
}

/** Derives addresses and public keys from what is sealed, and compares them with what is stored. */
export async function compareAddresses(
  storage: Storage,
  keyring: Keyring,
  options: Comparing,
): Promise<ComparedAddresses> {
  return await new Comparison(storage, keyring, options).run();
}

class Comparison {
  readonly #storage: Storage;
  readonly #keyring: Keyring;
  readonly #options: Comparing;
  #compared = 0;
  #wrong = 0;

  constructor(storage: Storage, keyring: Keyring, options: Comparing) {
    this.#storage = storage;
    this.#keyring = keyring;
    this.#options = options;
  }

  async run(): Promise<ComparedAddresses> {
    const reader = this.#storage.read(DerivedReader);
    const of = (await reader.count('wallet_account')) + (await reader.count('private_key'));
    await this.#each<StoredAccount>(
      (limit, after) => reader.accounts(limit, after),
      (rows) => this.#accounts(rows),
    );
    await this.#each<StoredKey>(
      (limit, after) => reader.keys(limit, after),
      (rows) => atOnce(rows, (row) => this.#key(row)),
    );
    return { compared: this.#compared, of, wrong: this.#wrong };
  }

  async #each<Row extends { readonly organization_id: string; readonly id: string }>(
    read: (limit: number, after: Row | 'any' | undefined) => Promise<readonly Row[]>,
    look: (rows: readonly Row[]) => Promise<void>,
  ): Promise<void> {
    const { sample } = this.#options;
    if (sample !== 'all') {
      const rows = await read(sample, 'any');
      this.#compared += rows.length;
      return await look(rows);
    }
    for (let after: Row | undefined; ; ) {
      const rows = await read(PAGE, after);
      after = rows.at(-1);
      if (after === undefined) return;
      this.#compared += rows.length;
      await look(rows);
    }
  }

  /** Those of one wallet together: its seed is stretched once. */
  async #accounts(rows: readonly StoredAccount[]): Promise<void> {
    const byWallet = groupBy(rows, ({ organization_id, wallet_id }) => `${organization_id} ${wallet_id}`);
    await atOnce([...byWallet.values()], (accounts) => this.#wallet(accounts));
  }

  async #wallet(accounts: readonly StoredAccount[]): Promise<void> {
    const { organization_id: organizationId, wallet_id: walletId } = accounts[0] as StoredAccount;
    const seed = await this.#storage.read(DerivedReader).seed(organizationId, walletId);
    const holder = await this.#holder(organizationId, walletId);
    const specs = accounts.map(({ curve, path, address_format }) => ({
      curve: curve as Curve,
      path,
      addressFormat: address_format as AddressFormat,
    }));
    const derived =
      seed === undefined || holder === undefined
        ? undefined
        : await unlessRefused(() => this.#keyring.deriveAccounts(holder, seed, specs));
    for (const [index, account] of accounts.entries()) {
      const found = derived?.[index];
      const isSame =
        found?.address === account.address &&
        found.publicKey === account.public_key &&
        found.pathKey === account.path_key;
      if (isSame || !(await this.#storage.read(DerivedReader).hasAccount(account))) continue;
      const because =
        found === undefined
          ? 'its seed does not open'
          : `its seed derives ${found.address} at ${printable(account.path)}`;
      this.#tell('wallet_account', account, because);
    }
  }

  async #key(row: StoredKey): Promise<void> {
    const because = await this.#wrongKey(row);
    if (because !== undefined && (await this.#storage.read(DerivedReader).hasKey(row)))
      this.#tell('private_key', row, because);
  }

  async #wrongKey({ curve, public_key, sealed_key, ...place }: StoredKey): Promise<string | undefined> {
    const holder = await this.#holder(place.organization_id, place.id);
    if (holder === undefined) return 'its organization has no key';
    const key = { kind: 'private-key', sealed: sealed_key, curve: curve as Curve } as const;
    const signs = await unlessRefused(() => signsAs(this.#keyring, holder, key, public_key));
    if (signs === undefined) return 'it does not open';
    if (!signs) return 'its signature is not that of the stored public key';
    for (const { address_format, address } of await this.#storage.read(DerivedReader).addressesOf(place)) {
      const found = await unlessRefused(async () =>
        addressOf(address_format as AddressFormat, curve as Curve, Buffer.from(public_key, 'hex')),
      );
      if (found !== address) return `its ${printable(address_format)} is ${found ?? 'unknown'}`;
    }
    return undefined;
  }

  async #holder(organizationId: string, ownerId: string): Promise<Holder | undefined> {
    const organizationKey = await this.#storage.read(SealedReader).organizationKey(organizationId);
    return organizationKey && { organizationKey, organizationId, ownerId };
  }

  #tell(table: WrongAddress['table'], { organization_id, id }: StoredAccount | StoredKey, because: string): void {
    this.#wrong += 1;
    this.#options.report({ table, organizationId: printable(organization_id), id: printable(id), because });
  }
}

/** Undefined where the keyring refuses what is stored; one that is away is no answer. */
export async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyringError && error.code !== 'UNAVAILABLE') return undefined;
    throw error;
  }
}

async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
