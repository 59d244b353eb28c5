import { describe, expect, test } from 'vitest';
import type { AppProof } from '../../src/core/model.ts';
import { ActivityStore } from '../../src/core/store/activities.ts';
import { ActivityReader } from '../../src/core/store/activity-reader.ts';
import { InstallationReader, InstallationStore } from '../../src/core/store/installation.ts';
import { OrganizationReader, OrganizationStore } from '../../src/core/store/organizations.ts';
import { TreeReader, TreeStore } from '../../src/core/store/tree.ts';
import type { Secret } from '../../src/domains/secrets/model.ts';
import { SecretReader, SecretStore } from '../../src/domains/secrets/store.ts';
import type { ImportKind, ImportTarget, PrivateKey, Wallet, WalletAccount } from '../../src/domains/wallets/model.ts';
import { ImportReader, ImportStore } from '../../src/domains/wallets/store/imports.ts';
import { PrivateKeyReader, PrivateKeyStore } from '../../src/domains/wallets/store/private-keys.ts';
import { WalletReader, WalletStore } from '../../src/domains/wallets/store/wallets.ts';
import { type OrganizationId, randomId, type UserId, type WalletId } from '../../src/lib/ids.ts';
import type { Page, PageRequest } from '../../src/lib/pagination.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf, codeOf, insertRows, NOW, Place, rowMaker, times, withOrganization } from './place.ts';

// The stores of wallets, private keys, imports and secrets: whatever is said of one database must be true of the other.

const BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);
const TIMES = { createdAtMs: NOW, updatedAtMs: NOW };

const wallet = (extra: Partial<Wallet> = {}): Wallet => ({
  id: randomId(),
  name: `wallet ${randomId()}`,
  sealedSeed: BYTES,
  exported: false,
  imported: false,
  ...TIMES,
  ...extra,
});
const account = (walletId: WalletId, extra: Partial<WalletAccount> = {}): WalletAccount => {
  const id = randomId<'wallet-account'>();
  return {
    id,
    walletId,
    name: undefined,
    curve: 'CURVE_SECP256K1',
    path: `m/${id}`,
    pathKey: `m/${id}`,
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    address: `0x${id}`,
    publicKey: '02',
    exported: false,
    ...TIMES,
    ...extra,
  };
};
const privateKey = (extra: Partial<PrivateKey> = {}): PrivateKey => ({
  id: randomId(),
  name: `key ${randomId()}`,
  curve: 'CURVE_P256',
  publicKey: '03',
  sealedKey: BYTES,
  addresses: [],
  tagIds: [],
  exported: false,
  imported: false,
  ...TIMES,
  ...extra,
});
const secret = (extra: Partial<Secret> = {}): Secret => ({
  id: randomId(),
  name: undefined,
  sealedSecret: BYTES,
  staticProperties: [],
  createdAtMs: NOW,
  ...extra,
});
const target = (userId: UserId, kind: ImportKind, extra: Partial<ImportTarget> = {}): ImportTarget => ({
  id: randomId(),
  userId,
  kind,
  targetPublicKey: `04${randomId()}`,
  sealedTarget: BYTES,
  expiresAtMs: NOW + 1000,
  ...extra,
});

/** The same with its bytes as a list, since the databases hand out different classes. */
const plain = <T extends object>(value: T): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, member instanceof Uint8Array ? [...member] : member]),
  );
const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map((item) => item.id);

/** Mixed case, as EIP-55 writes it. */
const EVM = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';

describe.each(DATABASES)('key stores on %s', (kind) => {
  async function insertWallet(storage: Storage, organizationId: OrganizationId, ...accounts: Partial<WalletAccount>[]) {
    const made = wallet();
    const rows = accounts.map((extra) => account(made.id, extra));
    await storage.write(async (store) => {
      await store(WalletStore).insert(organizationId, made);
      await store(WalletStore).insertAccounts(organizationId, rows);
    });
    return { wallet: made, accounts: rows };
  }

  /** Walks a list forwards by threes and backwards by twos. */
  async function expectPages<Item extends { readonly id: string }>(
    ids: readonly string[],
    page: (request: PageRequest) => Promise<Page<Item>>,
  ): Promise<void> {
    expect(idsOf((await page({ kind: 'all', max: ids.length })).items)).toEqual(ids);
    expect(await codeOf(page({ kind: 'all', max: ids.length - 1 }))).toBe('RESULT_TOO_LARGE');
    const forwards: string[] = [];
    for (let after: string | undefined; ; after = forwards.at(-1)) {
      const { items, pageInfo } = await page({ kind: 'page', limit: 3, ...(after !== undefined && { after }) });
      forwards.push(...idsOf(items));
      expect(pageInfo.hasPreviousPage).toBe(after !== undefined);
      if (!pageInfo.hasNextPage) break;
    }
    expect(forwards).toEqual(ids);
    const backwards: string[] = [];
    for (let before = ids.at(-1) as string; ; before = backwards[0] as string) {
      const { items, pageInfo } = await page({ kind: 'page', limit: 2, before });
      backwards.unshift(...idsOf(items));
      expect(pageInfo.hasNextPage).toBe(true);
      if (!pageInfo.hasPreviousPage) break;
    }
    expect(backwards).toEqual(ids.slice(0, -1));
    for (const cursor of ['after', 'before']) {
      expect(await codeOf(page({ kind: 'page', limit: 3, [cursor]: randomId() }))).toBe('REQUEST_INVALID');
    }
  }

  async function rowsOf(storage: Storage, table: string, organizationId: OrganizationId): Promise<number> {
    const rows = await storage.write((store) =>
      builderOf(store)
        .selectFrom(table as 'tag')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .execute(),
    );
    return rows.length;
  }

  describe('wallets', () => {
    test('come back as they went in', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const made = wallet({ name: 'Ü😀', exported: true, imported: true, createdAtMs: NOW - 1 });
      const rows = [
        account(made.id, { name: 'é', exported: true, curve: 'CURVE_ED25519', path: "m/0'/0", pathKey: "m/0'/0'" }),
        account(made.id, { createdAtMs: NOW + 1, updatedAtMs: NOW + 2 }),
      ];
      await storage.write(async (store) => {
        await store(WalletStore).insert(id, made);
        await store(WalletStore).insertAccounts(id, rows);
        await store(WalletStore).insertAccounts(id, []);
      });
      const wallets = storage.read(WalletReader);
      expect(plain(await wallets.get(id, made.id))).toEqual(plain(made));
      for (const row of rows) expect(await wallets.account(id, row.id)).toEqual(row);
      expect((await wallets.accountsById(id, [...idsOf(rows), randomId()])).sort(byId)).toEqual(rows);
      expect(idsOf(await wallets.many(id, [made.id, randomId()]))).toEqual([made.id]);
      expect([await wallets.many(id, []), await wallets.accountsById(id, [])]).toEqual([[], []]);
      expect(await wallets.find(id, randomId())).toBeUndefined();
      expect(await codeOf(wallets.get(id, randomId()))).toBe('RESOURCE_NOT_FOUND');
      expect(await wallets.account(id, randomId())).toBeUndefined();
    });

    test('are listed oldest first, and their accounts too', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      await insertWallet(storage, other.id, {}, {});
      const made = [];
      for (let index = 0; index < 7; index += 1) made.push(await insertWallet(storage, id, {}, {}));
      const wallets = storage.read(WalletReader);
      await expectPages(idsOf(made.map((entry) => entry.wallet)), (request) => wallets.page(id, request));
      await expectPages(idsOf(made.flatMap((entry) => entry.accounts)), (request) =>
        wallets.accounts(id, undefined, request),
      );
      const large = await insertWallet(storage, id, ...times(7, () => ({})));
      await expectPages(idsOf(large.accounts), (request) => wallets.accounts(id, large.wallet.id, request));
      const foreign = (await wallets.page(other.id, { kind: 'all', max: 10 })).items[0]?.id as string;
      expect(await codeOf(wallets.page(id, { kind: 'page', limit: 3, after: foreign }))).toBe('REQUEST_INVALID');
    });

    test('are renamed, unless the name is taken', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const [first, second] = [await insertWallet(storage, id), await insertWallet(storage, id)];
      const rename = (walletId: string, name: string | undefined) =>
        codeOf(storage.write((store) => store(WalletStore).rename(id, walletId, name, NOW + 5)));
      expect(await rename(first.wallet.id, 'new')).toBe('done');
      expect(await storage.read(WalletReader).get(id, first.wallet.id)).toMatchObject({
        name: 'new',
        updatedAtMs: NOW + 5,
      });
      expect(await rename(second.wallet.id, 'new')).toBe('ALREADY_EXISTS');
      expect(await rename(second.wallet.id, undefined)).toBe('done');
      expect((await storage.read(WalletReader).get(id, second.wallet.id)).name).toBe(second.wallet.name);
      expect(await rename(randomId(), 'another')).toBe('RESOURCE_NOT_FOUND');
      // A name is free again once its wallet is gone.
      await storage.write((store) => store(WalletStore).delete(id, [first.wallet.id]));
      expect(await rename(second.wallet.id, 'new')).toBe('done');
    });

    test('keep the mark of an export', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const wallets = storage.read(WalletReader);
      expect(await wallets.hasUnexported(id)).toBe(false);
      const [first, second] = [await insertWallet(storage, id, {}, {}), await insertWallet(storage, id, {})];
      const [marked, unmarked] = first.accounts as [WalletAccount, WalletAccount];
      await storage.write((store) => store(WalletStore).markAddressExported(id, marked.address, NOW + 5));
      expect(await wallets.account(id, marked.id)).toEqual({ ...marked, exported: true, updatedAtMs: NOW + 5 });
      expect(await wallets.account(id, unmarked.id)).toEqual(unmarked);
      expect((await wallets.get(id, first.wallet.id)).exported).toBe(false);
      const mark = (walletId: string, nowMs: number) =>
        codeOf(storage.write((store) => store(WalletStore).markExported(id, walletId, nowMs)));
      expect(await mark(first.wallet.id, NOW + 6)).toBe('done');
      expect(await wallets.get(id, first.wallet.id)).toMatchObject({ exported: true, updatedAtMs: NOW + 6 });
      expect((await wallets.get(id, second.wallet.id)).exported).toBe(false);
      expect(await wallets.hasUnexported(id)).toBe(true);
      expect(await mark(second.wallet.id, NOW + 7)).toBe('done');
      expect(await wallets.hasUnexported(id)).toBe(false);
      expect(await mark(second.wallet.id, NOW + 8)).toBe('done');
      expect(await mark(randomId(), NOW)).toBe('RESOURCE_NOT_FOUND');
      const unknown = storage.write((store) => store(WalletStore).markAddressExported(id, randomId(), NOW));
      expect(await codeOf(unknown)).toBe('RESOURCE_NOT_FOUND');
    });

    test('leave their place in a list behind, and nothing else', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const root = await withOrganization(storage);
      const { id } = await withOrganization(storage, { parentId: root.id });
      const made = [];
      for (let index = 0; index < 3; index += 1) made.push(await insertWallet(storage, id, {}, {}));
      const [first, second, third] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]];
      const found = async (address: string) => {
        const filter = { kinds: ['WALLET_ACCOUNT_ADDRESS' as const], value: address };
        const request = { kind: 'all', max: 10 } as const;
        return idsOf(
          (await storage.read(TreeReader).subOrganizations(root.id, filter, request, async () => true)).items,
        );
      };
      const all = made.flatMap((entry) => entry.accounts);
      await storage.write((store) => store(TreeStore).add(root.id, id, all.map(addressEntry)));
      for (const { address } of all) expect(await found(address)).toEqual([id]);

      const gone = second.accounts[0] as WalletAccount;
      await storage.write(async (store) => {
        await store(WalletStore).deleteAccounts(id, [gone.id]);
        await store(TreeStore).remove(id, [gone.id]);
        await store(WalletStore).delete(id, [first.wallet.id]);
      });
      const wallets = storage.read(WalletReader);
      expect(await wallets.find(id, first.wallet.id)).toBeUndefined();
      expect(await wallets.accountsById(id, idsOf([...first.accounts, gone]))).toEqual([]);
      expect(await wallets.accountsByAddress(id, gone.address)).toEqual([]);
      for (const { address } of [...first.accounts, gone]) expect(await found(address)).toEqual([]);
      const left = [...second.accounts.slice(1), ...third.accounts];
      for (const { address } of left) expect(await found(address)).toEqual([id]);
      expect(await rowsOf(storage, 'wallet', id)).toBe(2);
      expect(await rowsOf(storage, 'wallet_account', id)).toBe(3);

      const walletPage = await wallets.page(id, { kind: 'page', limit: 5, after: first.wallet.id });
      expect(idsOf(walletPage.items)).toEqual(idsOf([second.wallet, third.wallet]));
      for (const cursor of [gone, ...first.accounts]) {
        const { items } = await wallets.accounts(id, undefined, { kind: 'page', limit: 5, after: cursor.id });
        expect(idsOf(items)).toEqual(idsOf(left));
      }
      // A deleted path can be derived again.
      await storage.write((store) => store(WalletStore).insertAccounts(id, [{ ...gone, id: randomId() }]));
    });

    test('with more accounts than a statement has parameters are deleted', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const large = await insertWallet(storage, id, ...times(70_000, () => ({})));
      const kept = await insertWallet(storage, id, {});
      await storage.write((store) => store(WalletStore).delete(id, [large.wallet.id]));
      const wallets = storage.read(WalletReader);
      expect(idsOf((await wallets.accounts(id, undefined, { kind: 'all', max: 10 })).items)).toEqual(
        idsOf(kept.accounts),
      );
      const middle = large.accounts[35_000] as WalletAccount;
      const behind = await wallets.accounts(id, undefined, { kind: 'page', limit: 1, after: middle.id });
      expect(idsOf(behind.items)).toEqual(idsOf(kept.accounts));
    });

    test('are found by their addresses, in any case where the chain ignores it', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const [evm, solana] = [{ address: EVM }, { address: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk' }];
      // Aptos and Sui look like it, but are longer.
      const aptos = { address: `0x${'aB'.repeat(32)}` };
      const mine = await insertWallet(storage, id, evm, solana, aptos);
      const again = await insertWallet(storage, id, evm);
      await insertWallet(storage, other.id, evm);
      const wallets = storage.read(WalletReader);
      const byAddress = async (address: string) => idsOf(await wallets.accountsByAddress(id, address));
      const evmIds = [mine.accounts[0]?.id, again.accounts[0]?.id];
      for (const spelling of [EVM, EVM.toLowerCase(), `0x${EVM.slice(2).toUpperCase()}`]) {
        expect(await byAddress(spelling)).toEqual(evmIds);
        expect((await wallets.accountInWallet(id, again.wallet.id, { address: spelling }))?.id).toBe(evmIds[1]);
      }
      for (const spelling of [EVM.slice(2), EVM.toUpperCase(), `${EVM} `, '']) {
        expect(await byAddress(spelling)).toEqual([]);
      }
      for (const [at, { address }] of [solana, aptos].entries()) {
        expect(await byAddress(address)).toEqual([mine.accounts[at + 1]?.id]);
        expect(await byAddress(address.toLowerCase())).toEqual([]);
        expect(await wallets.accountInWallet(id, again.wallet.id, { address })).toBeUndefined();
      }
    });

    test('are searched for an account by address, by path or by both', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const hardened = { curve: 'CURVE_ED25519', path: "m/44'/148'/0", pathKey: "m/44'/148'/0'" } as const;
      const evm = { path: "m/44'/60'/0'/0/0", pathKey: "m/44'/60'/0'/0/0", address: EVM };
      const made = await insertWallet(
        storage,
        id,
        evm,
        { ...evm, addressFormat: 'ADDRESS_FORMAT_TRON', address: 'T' },
        hardened,
      );
      const other = await insertWallet(storage, id, evm);
      const find = async (match: { address?: string; path?: string }, walletId: string = made.wallet.id) =>
        (await storage.read(WalletReader).accountInWallet(id, walletId, match))?.id;
      const [first, second, third] = idsOf(made.accounts);
      expect(await find({ path: evm.path })).toBe(first);
      expect(await find({ address: 'T' })).toBe(second);
      expect(await find({ address: 'T', path: evm.path })).toBe(second);
      expect(await find({ address: 'T', path: hardened.path })).toBeUndefined();
      expect(await find({ path: hardened.path })).toBe(third);
      expect(await find({ path: 'm/0' })).toBeUndefined();
      expect(await find({ address: EVM }, other.wallet.id)).toBe(other.accounts[0]?.id);
      expect(await find({ address: 'T' }, other.wallet.id)).toBeUndefined();
      expect(await find({ address: EVM }, randomId())).toBeUndefined();
    });

    test('have one account per curve, path and format, and one per name in the organization', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, elsewhere] = [await withOrganization(storage), await withOrganization(storage)];
      const made = await insertWallet(storage, id, { pathKey: 'm/0', name: 'mine' });
      const add = (organizationId: OrganizationId, walletId: WalletId, extra: Partial<WalletAccount>) =>
        codeOf(storage.write((store) => store(WalletStore).insertAccounts(organizationId, [account(walletId, extra)])));
      const walletId = made.wallet.id;
      expect(await add(id, walletId, { pathKey: 'm/0' })).toBe('ALREADY_EXISTS');
      // Another spelling of the same derived path is no other account.
      expect(await add(id, walletId, { path: 'm/0h', pathKey: 'm/0' })).toBe('ALREADY_EXISTS');
      expect(await add(id, walletId, { pathKey: 'm/0', curve: 'CURVE_P256' })).toBe('done');
      expect(await add(id, walletId, { pathKey: 'm/0', addressFormat: 'ADDRESS_FORMAT_COSMOS' })).toBe('done');
      const other = await insertWallet(storage, id);
      expect(await add(id, other.wallet.id, { pathKey: 'm/0' })).toBe('done');
      expect(await add(id, other.wallet.id, { name: 'mine' })).toBe('ALREADY_EXISTS');
      expect(await add(id, other.wallet.id, { name: 'Mine' })).toBe('done');
      const away = await insertWallet(storage, elsewhere.id);
      expect(await add(elsewhere.id, away.wallet.id, { name: 'mine' })).toBe('done');
    });

    test('of another organization are not there, whatever is asked or done', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [mine, theirs] = [await withOrganization(storage), await withOrganization(storage)];
      const { wallet: made, accounts } = await insertWallet(storage, theirs.id, { address: EVM });
      const [{ id: accountId }] = accounts as [WalletAccount];
      const wallets = storage.read(WalletReader);
      expect(await wallets.find(mine.id, made.id)).toBeUndefined();
      expect(await wallets.many(mine.id, [made.id])).toEqual([]);
      expect(await wallets.account(mine.id, accountId)).toBeUndefined();
      expect(await wallets.accountsById(mine.id, [accountId])).toEqual([]);
      expect(await wallets.accountsByAddress(mine.id, EVM)).toEqual([]);
      expect(await wallets.accountInWallet(mine.id, made.id, { address: EVM })).toBeUndefined();
      expect(await wallets.hasUnexported(mine.id)).toBe(false);
      for (const work of [
        () => storage.write((store) => store(WalletStore).rename(mine.id, made.id, 'mine', NOW)),
        () => storage.write((store) => store(WalletStore).markExported(mine.id, made.id, NOW)),
        () => storage.write((store) => store(WalletStore).markAddressExported(mine.id, EVM, NOW)),
      ]) {
        expect(await codeOf(work())).toBe('RESOURCE_NOT_FOUND');
      }
      await storage.write((store) => store(WalletStore).deleteAccounts(mine.id, [accountId]));
      await storage.write((store) => store(WalletStore).delete(mine.id, [made.id]));
      expect(plain(await wallets.get(theirs.id, made.id))).toEqual(plain(made));
      expect(await wallets.account(theirs.id, accountId)).toEqual(accounts[0]);
    });
  });

  describe('private keys', () => {
    test('come back with their addresses and tags, and go with them', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const tagIds = times(2, () => randomId<'tag'>());
      const addresses = [
        { format: 'ADDRESS_FORMAT_COMPRESSED', address: '02aB' },
        { format: 'ADDRESS_FORMAT_ETHEREUM', address: EVM },
      ];
      const full = privateKey({ name: 'Ü😀', imported: true, exported: true, addresses, tagIds });
      const bare = privateKey();
      const foreign = privateKey({ addresses, tagIds });
      await storage.write(async (store) => {
        await store(PrivateKeyStore).insert(id, [full, bare]);
        await store(PrivateKeyStore).insert(id, []);
        await store(PrivateKeyStore).insert(other.id, [foreign]);
      });
      const privateKeys = storage.read(PrivateKeyReader);
      for (const key of [full, bare]) expect(plain(await privateKeys.get(id, key.id))).toEqual(plain(key));
      expect(idsOf(await privateKeys.many(id, [bare.id, foreign.id, full.id])).sort()).toEqual(idsOf([full, bare]));
      expect(await privateKeys.many(id, [])).toEqual([]);
      expect(await privateKeys.find(id, foreign.id)).toBeUndefined();
      expect(await codeOf(privateKeys.get(id, foreign.id))).toBe('RESOURCE_NOT_FOUND');
      for (const address of [EVM, EVM.toLowerCase(), '02aB']) {
        expect((await privateKeys.byAddress(id, address))?.id).toBe(full.id);
        expect((await privateKeys.byAddress(other.id, address))?.id).toBe(foreign.id);
      }
      expect(await privateKeys.byAddress(id, '02ab')).toBeUndefined();
      expect(await privateKeys.keysWithTags(id, tagIds)).toEqual([full.id]);

      await storage.write((store) => store(PrivateKeyStore).delete(id, [foreign.id]));
      await storage.write((store) => store(PrivateKeyStore).delete(id, [full.id]));
      expect(await privateKeys.byAddress(id, EVM)).toBeUndefined();
      expect(await privateKeys.keysWithTags(id, tagIds)).toEqual([]);
      for (const table of ['private_key_address', 'private_key_tag']) expect(await rowsOf(storage, table, id)).toBe(0);
      expect(plain(await privateKeys.get(other.id, foreign.id))).toEqual(plain(foreign));
      expect(await privateKeys.keysWithTags(other.id, tagIds)).toEqual([foreign.id]);
    });

    test('are listed oldest first, deleted ones keeping their place', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const keys = times(7, (index) => privateKey({ addresses: [{ format: 'F', address: `address ${index}` }] }));
      await storage.write(async (store) => {
        await store(PrivateKeyStore).insert(id, keys);
        await store(PrivateKeyStore).insert(other.id, [privateKey()]);
      });
      const privateKeys = storage.read(PrivateKeyReader);
      await expectPages(idsOf(keys), (request) => privateKeys.page(id, request));
      const { items } = await privateKeys.page(id, { kind: 'all', max: 10 });
      expect(items.map(plain)).toEqual(keys.map(plain));
      const [gone, ...left] = keys as [PrivateKey, ...PrivateKey[]];
      await storage.write((store) => store(PrivateKeyStore).delete(id, [gone.id]));
      await expectPages(idsOf(left), (request) => privateKeys.page(id, request));
      const behind = await privateKeys.page(id, { kind: 'page', limit: 10, after: gone.id });
      expect(idsOf(behind.items)).toEqual(idsOf(left));
    });

    test('are tagged and untagged', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const [first, second] = [privateKey(), privateKey()];
      const [red, blue] = [randomId<'tag'>(), randomId<'tag'>()];
      await storage.write(async (store) => {
        await store(PrivateKeyStore).insert(id, [first, second]);
        await store(PrivateKeyStore).tag(id, [first.id, second.id], red);
        // Twice is once.
        await store(PrivateKeyStore).tag(id, [first.id, first.id], red);
        await store(PrivateKeyStore).tag(id, [second.id], blue);
        await store(PrivateKeyStore).tag(id, [], blue);
      });
      const tagsOf = async (keyId: string) => (await storage.read(PrivateKeyReader).get(id, keyId)).tagIds;
      expect([await tagsOf(first.id), await tagsOf(second.id)]).toEqual([[red], [red, blue]]);
      expect(await storage.read(PrivateKeyReader).keysWithTags(id, [red, blue])).toEqual([first.id, second.id]);
      await storage.write(async (store) => {
        await store(PrivateKeyStore).untag(id, [red], [second.id]);
        await store(PrivateKeyStore).untag(id, [red], []);
        await store(PrivateKeyStore).untag(randomId(), [red, blue]);
      });
      expect([await tagsOf(first.id), await tagsOf(second.id)]).toEqual([[red], [blue]]);
      await storage.write((store) => store(PrivateKeyStore).untag(id, [red, blue]));
      expect([await tagsOf(first.id), await tagsOf(second.id)]).toEqual([[], []]);
    });

    test('keep the mark of an export', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const key = privateKey();
      await storage.write((store) => store(PrivateKeyStore).insert(id, [key]));
      const privateKeys = storage.read(PrivateKeyReader);
      expect([await privateKeys.hasUnexported(id), await privateKeys.hasUnexported(other.id)]).toEqual([true, false]);
      const mark = (organizationId: OrganizationId) =>
        codeOf(storage.write((store) => store(PrivateKeyStore).markExported(organizationId, key.id, NOW + 5)));
      expect(await mark(other.id)).toBe('RESOURCE_NOT_FOUND');
      expect((await privateKeys.get(id, key.id)).exported).toBe(false);
      expect(await mark(id)).toBe('done');
      expect(plain(await privateKeys.get(id, key.id))).toEqual(plain({ ...key, exported: true, updatedAtMs: NOW + 5 }));
      expect(await privateKeys.hasUnexported(id)).toBe(false);
    });

    test('have one name each', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const insert = (organizationId: OrganizationId, ...names: string[]) =>
        codeOf(
          storage.write((store) =>
            store(PrivateKeyStore).insert(
              organizationId,
              names.map((name) => privateKey({ name })),
            ),
          ),
        );
      expect(await insert(id, 'a', 'A')).toBe('done');
      expect(await insert(id, 'b', 'a')).toBe('ALREADY_EXISTS');
      expect(await insert(other.id, 'a')).toBe('done');
      expect(await rowsOf(storage, 'private_key', id)).toBe(2);
    });
  });

  describe('import targets', () => {
    test('belong to a user and a kind, newest first, until they expire', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const [alice, bob] = [randomId<'user'>(), randomId<'user'>()];
      const made = [target(alice, 'wallet'), target(alice, 'wallet', { expiresAtMs: NOW + 500 })] as const;
      await storage.write(async (store) => {
        for (const one of made) await store(ImportStore).insertTargets(id, [one], 5, NOW);
        await store(ImportStore).insertTargets(id, [target(bob, 'wallet')], 5, NOW);
        await store(ImportStore).insertTargets(id, [target(alice, 'secret'), target(alice, 'secret')], 5, NOW);
        await store(ImportStore).insertTargets(id, [], 5, NOW);
      });
      const imports = storage.read(ImportReader);
      const live = await imports.targets(id, alice, 'wallet', NOW);
      expect(live.map(plain)).toEqual([plain(made[1]), plain(made[0])]);
      // The last moment is no longer one of its life.
      expect(idsOf(await imports.targets(id, alice, 'wallet', NOW + 499))).toHaveLength(2);
      expect(idsOf(await imports.targets(id, alice, 'wallet', NOW + 500))).toEqual([made[0].id]);
      expect(await imports.targets(id, alice, 'secret', NOW)).toHaveLength(2);
      expect(await imports.targets(id, alice, 'private-key', NOW)).toEqual([]);
      expect(await imports.targets(id, randomId(), 'wallet', NOW)).toEqual([]);
      expect(await imports.targets(other.id, alice, 'wallet', NOW)).toEqual([]);
    });

    test('are kept up to a number per user and kind; the oldest and the expired go', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const [alice, bob] = [randomId<'user'>(), randomId<'user'>()];
      const insert = (keep: number, nowMs: number, ...targets: ImportTarget[]) =>
        storage.write((store) => store(ImportStore).insertTargets(id, targets, keep, nowMs));
      const bobs = target(bob, 'wallet', { expiresAtMs: NOW + 1 });
      await insert(3, NOW, bobs);
      const made = times(4, () => target(alice, 'wallet'));
      for (const one of made) await insert(3, NOW, one);
      const aliveOf = async (userId: UserId, nowMs = NOW) =>
        idsOf(await storage.read(ImportReader).targets(id, userId, 'wallet', nowMs)).reverse();
      expect(await aliveOf(alice)).toEqual(idsOf(made.slice(1)));
      const both = times(2, () => target(alice, 'wallet', { expiresAtMs: NOW + 9000 }));
      await insert(3, NOW, ...both);
      expect(await aliveOf(alice)).toEqual(idsOf([made[3] as ImportTarget, ...both]));
      const last = target(alice, 'wallet', { expiresAtMs: NOW + 9000 });
      await insert(5, NOW + 2000, last);
      expect(await aliveOf(alice)).toEqual(idsOf([...both, last]));
      expect(await aliveOf(bob)).toEqual([bobs.id]);
      expect(await rowsOf(storage, 'import_target', id)).toBe(4);
    });

    test('are taken once, also by many at the same time', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const made = target(randomId(), 'private-key');
      await storage.write((store) => store(ImportStore).insertTargets(id, [made], 5, NOW));
      const take = (organizationId: OrganizationId) =>
        storage.write((store) => store(ImportStore).takeTarget(organizationId, made.id));
      expect(await take(other.id)).toBe(false);
      // One that fails later has taken nothing.
      const failing = storage.write(async (store) => {
        expect(await store(ImportStore).takeTarget(id, made.id)).toBe(true);
        throw new Error('later');
      });
      await expect(failing).rejects.toThrow('later');
      const taken = await Promise.all(times(12, () => take(id)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await take(id)).toBe(false);
    });
  });

  describe('secrets', () => {
    test('come back as they went in, newest first, deleted ones keeping their place', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [{ id }, other] = [await withOrganization(storage), await withOrganization(storage)];
      const staticProperties = [
        { key: 'é"', value: '\u2028' },
        { key: '', value: '' },
      ];
      const made = [secret({ name: 'Ü😀', staticProperties }), ...times(6, () => secret())];
      const foreign = secret({ name: 'Ü😀' });
      await storage.write(async (store) => {
        for (const one of made) await store(SecretStore).insert(id, one);
        await store(SecretStore).insert(other.id, foreign);
      });
      const secrets = storage.read(SecretReader);
      const found = await secrets.find(id, [...idsOf(made), foreign.id, randomId()]);
      expect(found.sort(byId).map(plain)).toEqual(made.map(plain));
      expect(await secrets.find(id, [])).toEqual([]);
      const newest = [...made].reverse();
      await expectPages(idsOf(newest), (request) => secrets.page(id, request));
      const named = codeOf(storage.write((store) => store(SecretStore).insert(id, secret({ name: 'Ü😀' }))));
      expect(await named).toBe('ALREADY_EXISTS');
      const [gone, ...left] = newest as [Secret, ...Secret[]];
      await storage.write((store) => store(SecretStore).delete(id, [gone.id, foreign.id]));
      await expectPages(idsOf(left), (request) => secrets.page(id, request));
      const behind = await secrets.page(id, { kind: 'page', limit: 10, after: gone.id });
      expect(idsOf(behind.items)).toEqual(idsOf(left));
      expect(await secrets.find(other.id, [foreign.id])).toHaveLength(1);
    });
  });

  describe('the tree', () => {
    test('finds sub-organizations by the addresses of their accounts', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const [root, stranger] = [await withOrganization(storage), await withOrganization(storage)];
      const children = [];
      for (let index = 0; index < 3; index += 1) {
        children.push(await withOrganization(storage, { parentId: root.id }));
      }
      const [first, second, third] = idsOf(children) as [OrganizationId, OrganizationId, OrganizationId];
      const entry = (address: string) => addressEntry({ address, id: randomId() });
      await storage.write(async (store) => {
        await store(TreeStore).add(root.id, first, [entry(EVM), entry('bc1Mixed')]);
        // Addresses are not unique in a tree: one mnemonic can be imported in several places.
        await store(TreeStore).add(root.id, second, [entry(EVM), entry(EVM)]);
        await store(TreeStore).add(root.id, root.id, [entry(EVM)]);
        await store(TreeStore).add(root.id, third, [{ kind: 'NAME', value: EVM, ownerId: randomId() }]);
      });
      const find = async (rootId: OrganizationId, value: string) => {
        const filter = { kinds: ['WALLET_ACCOUNT_ADDRESS' as const], value };
        const request = { kind: 'all', max: 10 } as const;
        return idsOf(
          (await storage.read(TreeReader).subOrganizations(rootId, filter, request, async () => true)).items,
        );
      };
      for (const spelling of [EVM, EVM.toLowerCase(), `0x${EVM.slice(2).toUpperCase()}`]) {
        expect(await find(root.id, spelling)).toEqual([first, second]);
        expect(await find(stranger.id, spelling)).toEqual([]);
      }
      expect(await find(root.id, 'bc1Mixed')).toEqual([first]);
      expect(await find(root.id, 'bc1mixed')).toEqual([]);
    });
  });

  describe('proofs and service keys', () => {
    test('come back in their order', async () => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const activityId = randomId<'activity'>();
      const proofs = times(
        12,
        (index): AppProof => ({
          scheme: 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256',
          publicKey: `0${index}`,
          proofPayload: `{"é":${index}}`,
          signature: `${index}`,
        }),
      );
      const make = await rowMaker(storage, 'activity', []);
      const row = { ...make(), organization_id: id, id: activityId, status: 'ACTIVITY_STATUS_COMPLETED' };
      await insertRows(storage, 'activity', { ...row, parameters: '{}' });
      await storage.write(async (store) => {
        await store(ActivityStore).insertProofs(id, activityId, proofs);
        await store(ActivityStore).insertProofs(id, activityId, []);
      });
      expect((await storage.read(ActivityReader).find(id, activityId))?.proofs).toEqual(proofs);
      const keys = times(3, (index) => ({
        role: index === 1 ? 'a-role' : 'b-role',
        keyId: `${index}`,
        publicKey: '04',
        encoding: 'uncompressed' as const,
        sealedKey: BYTES,
        createdAtMs: NOW + index,
        signsFromMs: NOW + 900 + index,
      }));
      await storage.write(async (store) => {
        for (const key of keys) await store(InstallationStore).insertServiceKey(key);
      });
      const stored = await storage.read(InstallationReader).serviceKeys();
      expect(stored.map(plain)).toEqual([keys[1], keys[2], keys[0]].map((key) => plain(key as object)));
      await storage.write(async (store) => {
        await store(InstallationStore).deleteServiceKeys('b-role', ['0', '1']);
        await store(InstallationStore).deleteServiceKeys('b-role', []);
      });
      expect((await storage.read(InstallationReader).serviceKeys()).map(({ keyId }) => keyId)).toEqual(['1', '2']);
    });
  });

  test('an erased organization leaves its id, its name and its activities, and others alone', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const [gone, kept] = [await withOrganization(storage), await withOrganization(storage)];
    const tables = (await storage.write((store) => builderOf(store).introspection.getTables()))
      .filter(({ columns }) => columns.some((column) => column.name === 'organization_id'))
      .map((table) => table.name);
    const keys = ['wallet', 'wallet_account', 'private_key', 'secret', 'import_target'];
    const rules = ['policy', 'mfa_policy', 'session_profile', 'ip_allowlist', 'contract_interface'];
    const limits = ['velocity_control', 'velocity_entry'];
    expect(tables).toEqual(expect.arrayContaining([...keys, ...rules, ...limits]));
    for (const table of tables) {
      const make = await rowMaker(storage, table, []);
      for (const { id } of [gone, kept]) await insertRows(storage, table, { ...make(), organization_id: id });
    }
    await storage.write((store) => store(OrganizationStore).erase(gone.id, NOW + 5));
    const left = [];
    for (const table of tables) {
      expect(await rowsOf(storage, table, kept.id), table).toBe(1);
      if ((await rowsOf(storage, table, gone.id)) > 0) left.push(table);
    }
    // Activities stay readable to the parent, with their votes and proofs, what policies said of them and which MFA
    // they met; digests of what was encrypted to us stay, so that nobody else presents it. What the operator's key has
    // signed stays until it is settled, and is shown to nobody.
    expect(left.sort()).toEqual([
      'accepted_bundle',
      'activity',
      'app_proof',
      'chain_send',
      'mfa_requirement',
      'policy_evaluation',
      'vote',
    ]);
    const { id, name, deletedAtMs, rootUserIds } = await storage.read(OrganizationReader).get(gone.id);
    expect({ id, name, deletedAtMs, rootUserIds }).toEqual({
      id: gone.id,
      name: gone.name,
      deletedAtMs: NOW + 5,
      rootUserIds: [],
    });
  });
});

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

const addressEntry = ({ address, id }: { readonly address: string; readonly id: string }) => ({
  kind: 'WALLET_ACCOUNT_ADDRESS' as const,
  value: address,
  ownerId: id,
});
