import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PrivateKeyReader } from '../../src/domains/wallets/store/private-keys.ts';
import { WalletReader } from '../../src/domains/wallets/store/wallets.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { KNOWN_WALLET } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { DATABASES, databasesOf } from '../harness/databases.ts';
import {
  account,
  aName,
  COMPLETED,
  ethereum,
  exportedText,
  importKey,
  importWallet,
  newWallet,
  outcome,
  solana,
} from './fixtures/wallets.ts';

// protocol/wallets 5.3: the same entropy in each language, and the Ethereum address of a wallet that is made of those
// words.
const LANGUAGES = [
  ['ENGLISH', 'abandon', 'about', '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
  ['SIMPLIFIED_CHINESE', '的', '在', '0xC76e30854248D3A32DDF963B83AF86CdB7F0e463'],
  ['TRADITIONAL_CHINESE', '的', '在', '0xC76e30854248D3A32DDF963B83AF86CdB7F0e463'],
  ['CZECH', 'abdikace', 'agrese', '0x7A0c8C2a584C0dFCED38b1CB55aA69E93224bcfe'],
  ['FRENCH', 'abaisser', 'abeille', '0x4B8EF44C122F1256580278729B695D4590A69742'],
  ['ITALIAN', 'abaco', 'abete', '0x95fc8d7d640CbC746C6021E3DaA0D542BF72B553'],
  ['JAPANESE', 'あいこくしん', 'あおぞら', '0xbdAee434065804ad1816118796c7009446Eae70D'],
  ['KOREAN', '가격', '가능', '0xc73c3Cd671330cf2EF0Dc0fEBA80fFd1A1951b23'],
  ['SPANISH', 'ábaco', 'abierto', '0x97Eb7E2D802949D2739E08f9935Abd03A1e046Cb'],
] as const;

const TIMESTAMP = { seconds: expect.stringMatching(/^\d{10}$/), nanos: expect.stringMatching(/^\d{1,9}$/) };

describe.each(databasesOf(import.meta.url))('wallets on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Wallets');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const walletOf = async (client: TestClient, walletId: string) =>
    (await client.query('get_wallet', { walletId })).body.wallet;

  test.each([12, 15, 18, 21, 24])('a mnemonic of %i words, which gives the same accounts elsewhere', async (words) => {
    const accounts = [ethereum(), solana(), account('P256', "m/44'/1'/0'", 'COMPRESSED')];
    const made = await newWallet(root, accounts, { mnemonicLength: words });
    const mnemonic = await exportedText(root, made.walletId);
    expect(mnemonic).toMatch(/^[a-z]+( [a-z]+)+$/);
    expect(mnemonic.split(' ')).toHaveLength(words);
    expect((await importWallet(root, mnemonic, accounts)).addresses).toEqual(made.addresses);
  });

  test('a mnemonic has 12 words unless told otherwise, and no other number than those five', async () => {
    expect((await exportedText(root, (await newWallet(root, [])).walletId)).split(' ')).toHaveLength(12);
    for (const mnemonicLength of [0, 11, 13, 25, 12.5, '12', true]) {
      const answer = await root.submit('create_wallet', { walletName: aName('bad'), accounts: [], mnemonicLength });
      expect(outcome(answer), String(mnemonicLength)).toEqual([400, 'REQUEST_INVALID']);
    }
  });

  test.each(LANGUAGES)('export in %s gives the words of that list', async (language, first, last, address) => {
    const { walletId } = await importWallet(root, KNOWN_WALLET.mnemonic, []);
    const words = (await exportedText(root, walletId, language)).split(' ');
    expect(words).toEqual([...Array(11).fill(first), last].map((word) => word.normalize('NFKD')));
    // The seed comes from the words: elsewhere, the same entropy in another language is another wallet.
    const imported = await importWallet(root, words.join(' '));
    expect(imported.addresses).toEqual([address]);
    // And here it stays in its own language.
    expect(await exportedText(root, imported.walletId)).toBe(words.join(' '));
    expect(await exportedText(root, imported.walletId, 'ENGLISH')).toBe(KNOWN_WALLET.mnemonic);
  });

  test('a language that is none of the nine is refused', async () => {
    const { walletId } = await newWallet(root, []);
    const answer = await root.submit('export_wallet', {
      walletId,
      targetPublicKey: newKeyPair().publicKey,
      language: 'MNEMONIC_LANGUAGE_PORTUGUESE',
    });
    expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
    expect((await walletOf(root, walletId)).exported).toBe(false);
  });

  test('a wallet has a name of its own, which can be changed', async () => {
    const walletName = aName('named');
    const { walletId } = await root.run('create_wallet', { walletName, accounts: [] });
    expect(await walletOf(root, walletId)).toEqual({
      walletId,
      walletName,
      createdAt: TIMESTAMP,
      updatedAt: TIMESTAMP,
      exported: false,
      imported: false,
    });
    const again = await root.submit('create_wallet', { walletName, accounts: [ethereum()] });
    expect(outcome(again)).toEqual([409, 'ALREADY_EXISTS']);
    expect(again.body.message).toContain('already exists');
    const other = aName('renamed');
    expect(await root.run('update_wallet', { walletId, walletName: other })).toEqual({ walletId });
    expect((await walletOf(root, walletId)).walletName).toBe(other);
    // The old name is free again, the new one is not.
    expect(outcome(await root.submit('create_wallet', { walletName, accounts: [] }))).toEqual([200, COMPLETED]);
    expect(outcome(await root.submit('update_wallet', { walletId, walletName }))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await root.submit('update_wallet', { walletId: randomUUID(), walletName: other }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
    ]);
    // In another organization it was never taken.
    const elsewhere = await createSubOrganization(parent, 'Elsewhere');
    expect(outcome(await elsewhere.submit('create_wallet', { walletName, accounts: [] }))).toEqual([200, COMPLETED]);
  });

  test('a wallet is made with all its accounts or not at all', async () => {
    const walletName = aName('atomic');
    const taken = aName('account');
    await newWallet(root, [ethereum(0, { name: taken })]);
    for (const [accounts, expected] of [
      [
        [ethereum(), ethereum(1), ethereum()],
        [409, 'ALREADY_EXISTS'],
      ],
      [
        [ethereum(), ethereum(1, { name: taken })],
        [409, 'ALREADY_EXISTS'],
      ],
      [
        [ethereum(0, { name: 'twice' }), ethereum(1, { name: 'twice' })],
        [400, 'REQUEST_INVALID'],
      ],
      [
        [ethereum(), account('ED25519', 'm/0', 'ETHEREUM')],
        [400, 'INVALID_ADDRESS_FORMAT'],
      ],
    ] as const) {
      expect(outcome(await root.submit('create_wallet', { walletName, accounts }))).toEqual(expected);
    }
    expect(outcome(await root.submit('create_wallet', { walletName, accounts: [ethereum()] }))).toEqual([
      200,
      COMPLETED,
    ]);
  });

  test('lists and get_organization show the wallets, oldest first', async () => {
    const client = await createSubOrganization(parent, 'Listed');
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) ids.push((await newWallet(client, [])).walletId);
    const { privateKeyId } = await importKey(client, 'SECP256K1', '11'.repeat(32), ['ETHEREUM']);
    const all = (await client.query('list_wallets')).body;
    expect(all.wallets.map((wallet: { walletId: string }) => wallet.walletId)).toEqual(ids);
    const page = (await client.query('list_wallets', { paginationOptions: { limit: '2', after: ids[1] } })).body;
    expect(page.wallets.map((wallet: { walletId: string }) => wallet.walletId)).toEqual(ids.slice(2, 4));
    expect(page.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: true,
      startCursor: ids[2],
      endCursor: ids[3],
    });
    const { organizationData } = (await client.query('get_organization')).body;
    expect(organizationData.wallets).toEqual(all.wallets);
    expect(organizationData.privateKeys).toMatchObject([{ privateKeyId, imported: true, exported: false }]);
  });

  describe('deletion', () => {
    test('refuses what was never exported, unless told', async () => {
      const { walletId } = await newWallet(root, [ethereum(), solana()]);
      const exported = await newWallet(root);
      await exportedText(root, exported.walletId);
      const both = { walletIds: [exported.walletId, walletId, walletId] };
      expect(outcome(await root.submit('delete_wallets', both))).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
      expect(outcome(await root.submit('delete_wallets', { ...both, deleteWithoutExport: false }))).toEqual([
        400,
        'WALLET_ACCOUNT_NOT_EXPORTED',
      ]);
      expect((await walletOf(root, exported.walletId)).exported).toBe(true);
      expect(await root.run('delete_wallets', { ...both, deleteWithoutExport: true })).toEqual({
        walletIds: [exported.walletId, walletId],
      });
      for (const id of both.walletIds) {
        expect(outcome(await root.query('get_wallet', { walletId: id }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
        expect((await root.query('list_wallet_accounts', { walletId: id })).status).toBe(404);
      }
    });

    test('takes an exported wallet without further words', async () => {
      const { walletId, addresses } = await newWallet(root);
      await exportedText(root, walletId);
      expect(await root.run('delete_wallets', { walletIds: [walletId] })).toEqual({ walletIds: [walletId] });
      const signed = await root.submit('sign_raw_payload', {
        signWith: addresses[0],
        payload: '00'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      });
      expect(outcome(signed)).toEqual([404, 'RESOURCE_NOT_FOUND']);
    });

    test('an exported account does not make its wallet an exported one', async () => {
      const { walletId, addresses } = await newWallet(root);
      await root.run('export_wallet_account', { address: addresses[0], targetPublicKey: newKeyPair().publicKey });
      expect(outcome(await root.submit('delete_wallets', { walletIds: [walletId] }))).toEqual([
        400,
        'WALLET_ACCOUNT_NOT_EXPORTED',
      ]);
    });

    test('is all or nothing: an unknown or foreign id spares the others', async () => {
      const { walletId } = await newWallet(root);
      const stranger = await createSubOrganization(parent, 'Stranger');
      const foreign = await newWallet(stranger);
      for (const other of [randomUUID(), foreign.walletId]) {
        const answer = await root.submit('delete_wallets', { walletIds: [walletId, other], deleteWithoutExport: true });
        expect(outcome(answer)).toEqual([404, 'RESOURCE_NOT_FOUND']);
      }
      expect((await walletOf(root, walletId)).walletId).toBe(walletId);
      expect((await walletOf(stranger, foreign.walletId)).walletId).toBe(foreign.walletId);
    });

    test('of accounts by the thousand: nothing of them is left, and a list can still be paged from one of them', async () => {
      const client = await createSubOrganization(parent, 'Thousands');
      const { walletId } = await newWallet(client, []);
      const accounts = Array.from({ length: 1000 }, (_, index) => ethereum(index));
      await client.run('create_wallet_accounts', { walletId, accounts });
      const kept = await newWallet(client, [ethereum(7)]);
      const { body } = await client.query('list_wallet_accounts', { walletId });
      expect(body.accounts).toHaveLength(1000);
      const { walletAccountId, address } = body.accounts[500];
      const holders = async () =>
        (await parent.query('list_suborgs', { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: address })).body
          .organizationIds;
      expect(await holders()).toEqual([client.organizationId]);
      await client.run('delete_wallets', { walletIds: [walletId], deleteWithoutExport: true });
      expect(await holders()).toEqual([]);
      const rest = await client.query('list_wallet_accounts', { paginationOptions: { after: walletAccountId } });
      expect(rest.body.accounts).toMatchObject([{ address: kept.addresses[0], walletId: kept.walletId }]);
    });
  });

  describe('sub-organizations', () => {
    const create = (name: string, wallet: unknown) => {
      const key = newKeyPair();
      const rootUser = {
        userName: 'Owner',
        apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
      };
      const parameters = { subOrganizationName: name, rootQuorumThreshold: 1, rootUsers: [rootUser], wallet };
      return { key, parameters };
    };

    test('come with a wallet, and their parent finds them by its addresses', async () => {
      const { key, parameters } = create('With wallet', {
        walletName: 'Default',
        accounts: [ethereum(), solana()],
        mnemonicLength: 24,
      });
      const made = await parent.run('create_sub_organization', parameters);
      expect(made).toEqual({
        subOrganizationId: expect.any(String),
        wallet: { walletId: expect.any(String), addresses: [expect.stringMatching(/^0x/), expect.any(String)] },
        rootUserIds: [expect.any(String)],
      });
      const owner = new TestClient(parent.baseUrl, made.subOrganizationId, key, made.rootUserIds[0]);
      const [address, solanaAddress] = made.wallet.addresses;
      for (const filterValue of [
        address,
        address.toLowerCase(),
        address.toUpperCase().replace('0X', '0x'),
        solanaAddress,
      ]) {
        const found = await parent.query('list_suborgs', { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue });
        expect(found.body.organizationIds, filterValue).toEqual([made.subOrganizationId]);
      }
      const miscased = { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: solanaAddress.toLowerCase() };
      expect((await parent.query('list_suborgs', miscased)).body.organizationIds).toEqual([]);
      // The child holds the key; its parent sees the wallet and cannot use it.
      expect(
        (await parent.query('list_wallets', { organizationId: made.subOrganizationId })).body.wallets,
      ).toMatchObject([{ walletName: 'Default', walletId: made.wallet.walletId }]);
      const targetPublicKey = newKeyPair().publicKey;
      const theft = await parent.submit(
        'export_wallet',
        { walletId: made.wallet.walletId, targetPublicKey },
        { organizationId: made.subOrganizationId },
      );
      expect(outcome(theft)).toEqual([400, 'ORGANIZATION_MISMATCH']);
      expect((await exportedText(owner, made.wallet.walletId)).split(' ')).toHaveLength(24);
      // An address that is deleted is no longer found.
      const { accounts } = (await owner.query('list_wallet_accounts')).body;
      await owner.run('delete_wallet_accounts', { walletAccountIds: [accounts[0].walletAccountId] });
      const gone = { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: address };
      expect((await parent.query('list_suborgs', gone)).body.organizationIds).toEqual([]);
    });

    test('with accounts that are wrong are not made', async () => {
      const { parameters } = create('Not made', {
        walletName: 'Default',
        accounts: [account('ED25519', 'm', 'SOLANA')],
      });
      const refused = await parent.submit('create_sub_organization', parameters);
      expect(outcome(refused)).toEqual([400, 'INVALID_PATH']);
      expect(refused.body.message).toContain('wallet.accounts.0.path');
      const twice = create('Not made', { walletName: 'Default', accounts: [ethereum(), ethereum()] });
      expect(outcome(await parent.submit('create_sub_organization', twice.parameters))).toEqual([
        409,
        'ALREADY_EXISTS',
      ]);
      const found = await parent.query('list_suborgs', { filterType: 'NAME', filterValue: 'Not made' });
      expect(found.body.organizationIds).toEqual([]);
    });

    test('are deleted when every wallet and private key was exported, or when told', async () => {
      const owner = await createSubOrganization(parent, 'To delete');
      const { walletId } = await newWallet(owner);
      const { privateKeyId } = await importKey(owner, 'ED25519', '22'.repeat(32), ['SOLANA']);
      const attempt = async (parameters = {}) => outcome(await owner.submit('delete_sub_organization', parameters));
      expect(await attempt()).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
      await exportedText(owner, walletId);
      expect(await attempt()).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
      await owner.run('export_private_key', { privateKeyId, targetPublicKey: newKeyPair().publicKey });
      expect(await attempt()).toEqual([200, COMPLETED]);
      const told = await createSubOrganization(parent, 'To delete too');
      await newWallet(told);
      expect(outcome(await told.submit('delete_sub_organization', { deleteWithoutExport: true }))).toEqual([
        200,
        COMPLETED,
      ]);
    });
  });

  test('a user without rights is denied, and nothing is made', async () => {
    const plain = await createUser(root, 'plain');
    const { walletId } = await newWallet(root);
    for (const [operation, parameters] of [
      ['create_wallet', { walletName: aName('denied'), accounts: [] }],
      ['export_wallet', { walletId, targetPublicKey: newKeyPair().publicKey }],
      ['delete_wallets', { walletIds: [walletId], deleteWithoutExport: true }],
    ] as const) {
      expect(outcome(await plain.submit(operation, parameters)), operation).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    }
    expect((await walletOf(root, walletId)).exported).toBe(false);
  });
});

describe.each(DATABASES)('key material that is deleted on %s', (database) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await openTestApp(database);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('is gone from the live database', async () => {
    const { root, app } = service;
    const { storage, config } = app;
    const owner = await createSubOrganization(root, 'Erased');
    const ids = [root.organizationId, owner.organizationId] as never[];
    const { walletId } = await newWallet(root);
    const { privateKeyId } = await importKey(root, 'SECP256K1', '33'.repeat(32));
    const kept = await newWallet(root);
    const orphan = await newWallet(owner);
    const blobs = [
      (await storage.read(WalletReader).get(ids[0]!, walletId)).sealedSeed,
      (await storage.read(PrivateKeyReader).get(ids[0]!, privateKeyId)).sealedKey,
      (await storage.read(WalletReader).get(ids[1]!, orphan.walletId)).sealedSeed,
    ];
    const control = (await storage.read(WalletReader).get(ids[0]!, kept.walletId)).sealedSeed;
    const content = () =>
      database === 'sqlite' ? sqliteBytes(config.dataDir) : postgresBytes(config.databaseUrl as string);
    const held = async () => {
      const bytes = await content();
      return [...blobs, control].map((blob) => bytes.some((some) => some.includes(Buffer.from(blob))));
    };
    expect(await held()).toEqual([true, true, true, true]);
    const deletion = { deleteWithoutExport: true };
    await root.run('delete_wallets', { walletIds: [walletId], ...deletion });
    await root.run('delete_private_keys', { privateKeyIds: [privateKeyId], ...deletion });
    await owner.run('delete_sub_organization', deletion);
    expect(await held()).toEqual([false, false, false, true]);
  });
});

/** The files of the database after a checkpoint, free pages and all. */
async function sqliteBytes(dataDir: string): Promise<Buffer[]> {
  const db = new SqliteFile(join(dataDir, 'custos.db'));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const files = ['custos.db', 'custos.db-wal'].map((file) => readFileSync(join(dataDir, file)));
  db.close();
  return files;
}

/** Every value of type bytea in every table. */
async function postgresBytes(connectionString: string): Promise<Buffer[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: columns } = await client.query(
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'bytea'",
    );
    const values: Buffer[] = [];
    for (const { table_name, column_name } of columns) {
      const { rows } = await client.query(`SELECT ${column_name} AS value FROM ${table_name}`);
      values.push(...rows.map((row) => row.value ?? Buffer.alloc(0)));
    }
    return values;
  } finally {
    await client.end();
  }
}
