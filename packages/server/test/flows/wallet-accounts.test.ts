import { randomUUID } from 'node:crypto';
import { ADDRESS_FORMATS } from '@custos/keyring';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { KNOWN_WALLET } from '../harness/bundles.ts';
import { createSubOrganization, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  type AccountParams,
  ADDRESS_VECTORS,
  account,
  aName,
  COMPLETED,
  ethereum,
  exportedText,
  importWallet,
  newWallet,
  outcome,
  solana,
} from './fixtures/wallets.ts';

describe.each(databasesOf(import.meta.url))('wallet accounts on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Accounts');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const add = (walletId: string, accounts: readonly AccountParams[], extra = {}) =>
    root.submit('create_wallet_accounts', { walletId, accounts, ...extra });
  const list = async (parameters: Record<string, unknown> = {}, client = root) =>
    (await client.query('list_wallet_accounts', parameters)).body;
  const one = (parameters: Record<string, unknown>) => root.query('get_wallet_account', parameters);

  test('every address of the published vectors, in every format', async () => {
    expect(new Set(ADDRESS_VECTORS.map((vector) => vector.addressFormat))).toEqual(new Set(ADDRESS_FORMATS));
    // On Ed25519, 0 and 0' are one path, so that those vectors need a wallet of their own.
    const unhardened = ADDRESS_VECTORS.filter(({ curve, path }) => curve === 'CURVE_ED25519' && /\d(\/|$)/.test(path));
    const others = ADDRESS_VECTORS.filter((vector) => !unhardened.includes(vector));
    expect([unhardened, others].map(({ length }) => length > 0)).toEqual([true, true]);
    for (const vectors of [others, unhardened]) {
      expect(new Set(vectors.map(({ mnemonic, passphrase }) => mnemonic + passphrase)).size).toBe(1);
      const [{ mnemonic } = KNOWN_WALLET] = vectors;
      const params = vectors.map(({ curve, path, addressFormat }) => ({
        curve,
        path,
        addressFormat,
        pathFormat: 'PATH_FORMAT_BIP32',
      }));
      const { walletId, addresses } = await importWallet(root, mnemonic, params);
      expect(addresses).toEqual(vectors.map((vector) => vector.address));
      const { accounts } = await list({ walletId });
      expect(accounts).toMatchObject(
        vectors.map(({ curve, path, addressFormat, address, publicKeyHex }) => ({
          curve,
          path,
          addressFormat,
          address,
          // Compressed, or of 32 bytes on Ed25519.
          publicKey: publicKeyHex,
        })),
      );
    }
  });

  test('an account in every format, and its CAIP-2 prefix', async () => {
    const client = await createSubOrganization(parent, 'Formats');
    const vectorOf = (format: string) => ADDRESS_VECTORS.find(({ addressFormat }) => addressFormat === format);
    const accounts = ADDRESS_FORMATS.map((addressFormat) => ({
      curve: vectorOf(addressFormat)?.curve,
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/0'/0'",
      addressFormat,
    }));
    const made = await client.run('create_wallet', { walletName: 'Formats', accounts });
    const listed = (await list({}, client)).accounts as {
      address: string;
      addressFormat: string;
      caip2Prefix?: string;
    }[];
    expect(listed.map(({ address }) => address)).toEqual(made.addresses);
    for (const { addressFormat, caip2Prefix } of listed) {
      expect(caip2Prefix, addressFormat).toBe(vectorOf(addressFormat)?.caip2Prefix);
    }
  });

  test('an account has the fields of the specification', async () => {
    const name = aName('account');
    const { walletId, addresses } = await newWallet(root, [ethereum(0, { name }), ethereum(1)]);
    const { accounts } = await list({ walletId });
    const timestamp = { seconds: expect.stringMatching(/^\d{10}$/), nanos: expect.stringMatching(/^\d+$/) };
    const common = {
      walletAccountId: expect.any(String),
      organizationId: root.organizationId,
      walletId,
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
      createdAt: timestamp,
      updatedAt: timestamp,
      publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      caip2Prefix: 'eip155',
    };
    expect(accounts).toEqual([
      { ...common, path: "m/44'/60'/0'/0/0", address: addresses[0], name },
      { ...common, path: "m/44'/60'/0'/0/1", address: addresses[1] },
    ]);
  });

  describe('paths', () => {
    test.each([
      '',
      'm',
      'm/',
      '/0',
      '0',
      'M/0',
      'm/0/',
      'm//0',
      'm/-1',
      'm/+1',
      'm/1.5',
      'm/0x1',
      'm/00',
      'm/01',
      "m/0''",
      "m/'",
      'm/2147483648',
      "m/2147483648'",
      'm/ 0',
      'm/0 ',
      'm/0\n',
      'm/a',
      'm/0/0/0/0/0/0/0/0/0/0/0',
      `m/${'0'.repeat(300)}`,
    ])('%j is none', async (path) => {
      const { walletId } = await newWallet(root, []);
      const answer = await add(walletId, [ethereum(), account('SECP256K1', path, 'ETHEREUM')]);
      expect(answer.status).toBe(400);
      expect(['INVALID_PATH', 'REQUEST_INVALID']).toContain(answer.body.errorCode);
      expect(answer.body.message).toContain('parameters.accounts.1.path');
      expect((await list({ walletId })).accounts).toEqual([]);
    });

    test('1 to 10 levels, the largest index, and three ways to write hardened ones', async () => {
      const { walletId } = await newWallet(root, []);
      const paths = ['m/0', 'm/2147483647', "m/2147483647'", 'm/0/1/2/3/4/5/6/7/8/9', 'm/44h/60H/0h/0/5'];
      const accounts = paths.map((path) => account('SECP256K1', path, 'ETHEREUM'));
      const { body } = await add(walletId, [...accounts, account('SECP256K1', "m/44'/60'/0'/0/5", 'COMPRESSED')]);
      const { addresses } = body.activity.result.createWalletAccountsResult;
      const listed = (await list({ walletId })).accounts;
      expect(listed.map((item: { path: string }) => item.path)).toEqual([
        ...paths.slice(0, 4),
        "m/44'/60'/0'/0/5",
        "m/44'/60'/0'/0/5",
      ]);
      expect(addresses[5]).toBe(listed[4].publicKey);
      expect(new Set(addresses).size).toBe(6);
      // What was asked for stays as it was asked for.
      expect(body.activity.intent.createWalletAccountsIntent.accounts[4].path).toBe('m/44h/60H/0h/0/5');
    });

    test('only one path format exists', async () => {
      const { walletId } = await newWallet(root, []);
      const answer = await add(walletId, [{ ...ethereum(), pathFormat: 'PATH_FORMAT_SLIP10' }]);
      expect(outcome(answer)).toEqual([400, 'INVALID_PATH_FORMAT']);
    });
  });

  describe('one path', () => {
    test('carries several formats, and curves, but each only once', async () => {
      const { walletId } = await newWallet(root, []);
      const path = "m/8797555'/0'/0'";
      const formats = ['UNCOMPRESSED', 'COMPRESSED', 'COSMOS', 'SPARK_MAINNET', 'BITCOIN_TESTNET_P2TR'];
      const accounts = [
        ...formats.map((format) => account('SECP256K1', path, format)),
        account('P256', path, 'COMPRESSED'),
        account('ED25519', path, 'COMPRESSED'),
      ];
      expect(outcome(await add(walletId, accounts))).toEqual([200, COMPLETED]);
      const listed = (await list({ walletId })).accounts;
      expect(new Set(listed.slice(0, 5).map((item: { publicKey: string }) => item.publicKey)).size).toBe(1);
      expect(new Set(listed.map((item: { address: string }) => item.address)).size).toBe(7);
      for (const again of accounts) {
        const answer = await add(walletId, [account('SECP256K1', 'm/1', 'ETHEREUM'), again]);
        expect(outcome(answer), again.addressFormat).toEqual([409, 'ALREADY_EXISTS']);
        expect(answer.body.message).toContain('already exists');
      }
      const spelled = account('SECP256K1', 'm/8797555h/0H/0h', 'COSMOS');
      expect(outcome(await add(walletId, [spelled]))).toEqual([409, 'ALREADY_EXISTS']);
      expect((await list({ walletId })).accounts).toHaveLength(7);
    });

    test('is the same hardened or not on Ed25519, and not on the other curves', async () => {
      const { walletId } = await newWallet(root, []);
      const hardened = account('ED25519', "m/44'/501'/0'/0'", 'SOLANA');
      const written = account('ED25519', "m/44'/501'/0'/0", 'SOLANA');
      const { body } = await add(walletId, [written]);
      const [address] = body.activity.result.createWalletAccountsResult.addresses;
      expect(outcome(await add(walletId, [hardened]))).toEqual([409, 'ALREADY_EXISTS']);
      expect((await list({ walletId })).accounts).toMatchObject([{ path: written.path, address }]);
      const same = await add(walletId, [hardened], { persist: false });
      expect(same.body.activity.result.createWalletAccountsResult.addresses).toEqual([address]);
      for (const curve of ['SECP256K1', 'P256']) {
        const both = ["m/0'", 'm/0'].map((path) => account(curve, path, 'COMPRESSED'));
        expect(outcome(await add(walletId, both)), curve).toEqual([200, COMPLETED]);
      }
    });

    test('is free again after its account was deleted, with the same address', async () => {
      const { walletId, addresses } = await newWallet(root);
      const [{ walletAccountId }] = (await list({ walletId })).accounts;
      const parameters = { walletAccountIds: [walletAccountId], deleteWithoutExport: true };
      expect(await root.run('delete_wallet_accounts', parameters)).toEqual({ walletAccountIds: [walletAccountId] });
      expect((await list({ walletId })).accounts).toEqual([]);
      expect(outcome(await root.query('get_wallet', { walletId }))[0]).toBe(200);
      const { body } = await add(walletId, [ethereum()]);
      expect(body.activity.result).toEqual({ createWalletAccountsResult: { addresses } });
      expect((await list({ walletId })).accounts[0].walletAccountId).not.toBe(walletAccountId);
    });
  });

  test('a format that its curve does not have is refused', async () => {
    const { walletId } = await newWallet(root, []);
    const allowed = new Set(ADDRESS_VECTORS.map(({ curve, addressFormat }) => `${curve} ${addressFormat}`));
    allowed.add('CURVE_P256 ADDRESS_FORMAT_UNCOMPRESSED');
    for (const curve of ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256']) {
      for (const addressFormat of ADDRESS_FORMATS) {
        if (allowed.has(`${curve} ${addressFormat}`)) continue;
        const answer = await add(walletId, [{ ...ethereum(), curve, addressFormat }]);
        expect(outcome(answer), `${curve} ${addressFormat}`).toEqual([400, 'INVALID_ADDRESS_FORMAT']);
      }
    }
  });

  test('persist false computes addresses and stores nothing', async () => {
    const { walletId, addresses } = await newWallet(root, [ethereum(0), ethereum(1)]);
    const answer = await add(walletId, [ethereum(0), ethereum(1), ethereum(0), ethereum(2)], { persist: false });
    const computed = answer.body.activity.result.createWalletAccountsResult.addresses;
    expect(computed.slice(0, 3)).toEqual([addresses[0], addresses[1], addresses[0]]);
    expect((await list({ walletId })).accounts).toHaveLength(2);
    expect(outcome(await one({ walletId, address: computed[3] }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    const stored = await add(walletId, [ethereum(2)], { persist: true });
    expect(stored.body.activity.result.createWalletAccountsResult.addresses).toEqual([computed[3]]);
    expect((await one({ walletId, address: computed[3] })).body.account.path).toBe("m/44'/60'/0'/0/2");
  });

  test('names are unique in the organization', async () => {
    const name = aName('account');
    const first = await newWallet(root, [ethereum(0, { name })]);
    const second = await newWallet(root, []);
    expect(outcome(await add(second.walletId, [ethereum(0, { name })]))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await add(first.walletId, [ethereum(1, { name: ` ${name} ` })]))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await add(second.walletId, [ethereum(0), ethereum(1)]))).toEqual([200, COMPLETED]);
  });

  describe('get_wallet_account', () => {
    test('finds by address, by path and by both', async () => {
      const { walletId, addresses } = await newWallet(root, [
        ethereum(0),
        ethereum(1),
        account('ED25519', "m/44'/501'/0'/0", 'SOLANA'),
      ]);
      const found = async (parameters: Record<string, unknown>) => {
        const answer = await one({ walletId, ...parameters });
        return answer.status === 200 ? answer.body.account.address : outcome(answer);
      };
      const [zero, first, sol] = addresses as [string, string, string];
      expect(await found({ address: zero })).toBe(zero);
      expect(await found({ address: zero.toLowerCase() })).toBe(zero);
      expect(await found({ path: "m/44'/60'/0'/0/1" })).toBe(first);
      expect(await found({ path: 'm/44h/60h/0H/0/1' })).toBe(first);
      expect(await found({ address: first, path: "m/44'/60'/0'/0/1" })).toBe(first);
      expect(await found({ address: first, path: '' })).toBe(first);
      expect(await found({ address: sol })).toBe(sol);
      expect(await found({ path: "m/44'/501'/0'/0" })).toBe(sol);
      const missing = [404, 'RESOURCE_NOT_FOUND'];
      expect(await found({ address: zero, path: "m/44'/60'/0'/0/1" })).toEqual(missing);
      expect(await found({ address: sol.toLowerCase() })).toEqual(missing);
      expect(await found({ path: "m/44'/60'/0'/0/2" })).toEqual(missing);
      expect(await found({})).toEqual([400, 'REQUEST_INVALID']);
      const other = await newWallet(root, []);
      expect(outcome(await one({ walletId: other.walletId, address: zero }))).toEqual(missing);
      expect(outcome(await one({ walletId: randomUUID(), address: zero }))).toEqual(missing);
    });

    test('knows accounts of one key apart by their wallet', async () => {
      const [first, second] = [
        await importWallet(root, KNOWN_WALLET.mnemonic),
        await importWallet(root, KNOWN_WALLET.mnemonic),
      ];
      for (const { walletId } of [first, second]) {
        const { account: found } = (await one({ walletId, address: KNOWN_WALLET.address })).body;
        expect(found).toMatchObject({ walletId, address: KNOWN_WALLET.address });
      }
    });
  });

  describe('list_wallet_accounts', () => {
    test('of a wallet or of all, with the wallets when asked', async () => {
      const client = await createSubOrganization(parent, 'Details');
      const [a, b] = [await newWallet(client, [ethereum(0), ethereum(1)]), await newWallet(client, [solana()])];
      await exportedText(client, b.walletId);
      const all = await list({}, client);
      expect(all.accounts.map((item: { address: string }) => item.address)).toEqual([...a.addresses, ...b.addresses]);
      expect(all.accounts.every((item: object) => !('walletDetails' in item))).toBe(true);
      const plain = await list({ includeWalletDetails: false }, client);
      expect(plain).toEqual(all);
      const detailed = await list({ includeWalletDetails: true }, client);
      const wallets = new Map(
        (await client.query('list_wallets')).body.wallets.map((wallet: { walletId: string }) => [
          wallet.walletId,
          wallet,
        ]),
      );
      expect(wallets.get(b.walletId)).toMatchObject({ exported: true });
      expect(detailed.accounts).toEqual(
        all.accounts.map((item: { walletId: string }) => ({ ...item, walletDetails: wallets.get(item.walletId) })),
      );
      expect((await list({ walletId: a.walletId }, client)).accounts).toEqual(all.accounts.slice(0, 2));
      expect(outcome(await client.query('list_wallet_accounts', { walletId: randomUUID() }))).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
      ]);
      expect(outcome(await parent.query('list_wallet_accounts', { walletId: a.walletId }))).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
      ]);
    });

    test('pages in both directions, also from an account that is gone', async () => {
      const { walletId } = await newWallet(
        root,
        Array.from({ length: 23 }, (_, index) => ethereum(index)),
      );
      const all: string[] = (await list({ walletId })).accounts.map((item: { path: string }) => item.path);
      expect(all).toEqual(Array.from({ length: 23 }, (_, index) => `m/44'/60'/0'/0/${index}`));
      const page = async (paginationOptions: Record<string, string>) => {
        const { accounts, pageInfo } = await list({ walletId, paginationOptions });
        return { paths: accounts.map((item: { path: string }) => item.path) as string[], accounts, pageInfo };
      };
      expect((await page({})).paths).toEqual(all.slice(0, 10));
      // As the public client walks: the last row of a page leads to the next, a short page ends it.
      const seen: string[] = [];
      let after = {};
      for (;;) {
        const { paths, pageInfo } = await page({ limit: '7', ...after });
        seen.push(...paths);
        expect(pageInfo.hasNextPage).toBe(seen.length < 23);
        if (paths.length < 7) break;
        after = { after: pageInfo.endCursor };
      }
      expect(seen).toEqual(all);
      const middle = (await page({ limit: '12' })).accounts[11].walletAccountId;
      expect((await page({ limit: '3', before: middle })).paths).toEqual(all.slice(8, 11));
      await root.run('delete_wallet_accounts', { walletAccountIds: [middle], deleteWithoutExport: true });
      expect((await page({ limit: '2', after: middle })).paths).toEqual(all.slice(12, 14));
      expect((await page({ limit: '2', before: middle })).paths).toEqual(all.slice(9, 11));
      for (const bad of [
        { limit: '0' },
        { limit: '101' },
        { after: randomUUID() },
        { after: 'x' },
        { after: middle, before: middle },
      ]) {
        const answer = await root.query('list_wallet_accounts', { walletId, paginationOptions: bad });
        expect(outcome(answer), JSON.stringify(bad)).toEqual([400, 'REQUEST_INVALID']);
      }
    });
  });

  describe('delete_wallet_accounts', () => {
    const ids = async (walletId: string): Promise<string[]> =>
      (await list({ walletId })).accounts.map((item: { walletAccountId: string }) => item.walletAccountId);

    test('needs each account exported, by itself or with its wallet', async () => {
      const alone = await newWallet(root, [ethereum(0), ethereum(1)]);
      const whole = await newWallet(root, [ethereum(0)]);
      const [first, second] = (await ids(alone.walletId)) as [string, string];
      await root.run('export_wallet_account', {
        address: alone.addresses[0],
        targetPublicKey: newKeyPair().publicKey,
      });
      await exportedText(root, whole.walletId);
      // Made after the export: the exported words give it too.
      expect(outcome(await add(whole.walletId, [ethereum(1)]))).toEqual([200, COMPLETED]);
      const attempt = async (walletAccountIds: string[], extra = {}) =>
        outcome(await root.submit('delete_wallet_accounts', { walletAccountIds, ...extra }));
      expect(await attempt([first, second])).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
      expect(await attempt([second], { deleteWithoutExport: false })).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
      expect(await ids(alone.walletId)).toEqual([first, second]);
      expect(await attempt([first, ...(await ids(whole.walletId))])).toEqual([200, COMPLETED]);
      expect(await ids(whole.walletId)).toEqual([]);
      expect(await attempt([second], { deleteWithoutExport: true })).toEqual([200, COMPLETED]);
      expect(await ids(alone.walletId)).toEqual([]);
    });

    test('is all or nothing, and names no account twice', async () => {
      const { walletId } = await newWallet(root, [ethereum(0), ethereum(1)]);
      const stranger = await createSubOrganization(parent, 'Stranger');
      await newWallet(stranger);
      const foreign = (await list({}, stranger)).accounts[0].walletAccountId;
      const [first = '', second = ''] = await ids(walletId);
      for (const other of [randomUUID(), foreign]) {
        const answer = await root.submit('delete_wallet_accounts', {
          walletAccountIds: [first, other],
          deleteWithoutExport: true,
        });
        expect(outcome(answer)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      expect(outcome(await root.submit('delete_wallet_accounts', { walletAccountIds: [] }))[0]).toBe(400);
      expect(await ids(walletId)).toEqual([first, second]);
      expect((await list({}, stranger)).accounts).toHaveLength(1);
      const walletAccountIds = [second, first, second];
      expect(await root.run('delete_wallet_accounts', { walletAccountIds, deleteWithoutExport: true })).toEqual({
        walletAccountIds: [second, first],
      });
    });
  });

  test('accounts of a wallet that is not there', async () => {
    expect(outcome(await add(randomUUID(), [ethereum()]))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    const stranger = await createSubOrganization(parent, 'Other');
    const { walletId } = await newWallet(stranger, []);
    expect(outcome(await add(walletId, [ethereum()]))).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });
});
