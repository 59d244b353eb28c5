import { createECDH, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, type Keyring, type MnemonicLanguage } from '@custos/keyring';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { encryptTo, KNOWN_WALLET, newImportTarget, Receiver, readSigned, targetOf } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  account,
  aName,
  approve,
  COMPLETED,
  ethereum,
  exportedText,
  FAILED,
  importKey,
  importWallet,
  keyImport,
  needTwo,
  newWallet,
  outcome,
  PENDING,
  reject,
  solana,
  walletImport,
} from './fixtures/wallets.ts';

const HOUR = 60 * 60 * 1000;
// BIP-39's own vector: 24 words with the passphrase TREZOR, and the Ethereum address of that seed.
const PASSPHRASE = 'TREZOR';
const ACCOUNTS = [ethereum(), solana(), account('P256', "m/0'", 'COMPRESSED')];

describe.each(databasesOf(import.meta.url))('imports and exports on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Imports');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const bundleSigner = async (): Promise<string> => {
    const { keys } = await (await fetch(`${service.baseUrl}/public/v1/discovery/keys`)).json();
    return keys.find((key: { role: string }) => key.role === 'bundle-signer').publicKey;
  };

  describe('bundles', () => {
    test('are signed by the published key, for the organization and the user', async () => {
      const signer = await bundleSigner();
      const { walletId, addresses } = await newWallet(root);
      const { privateKeyId } = await importKey(root, 'SECP256K1', '11'.repeat(32));
      const userId = root.userId;
      const { publicKey: targetPublicKey } = new Receiver();
      const imports = [
        (await root.run('init_import_wallet', { userId })).importBundle,
        (await root.run('init_import_private_key', { userId })).importBundle,
      ];
      const exports = [
        (await root.run('export_wallet', { walletId, targetPublicKey })).exportBundle,
        (await root.run('export_wallet_account', { address: addresses[0], targetPublicKey })).exportBundle,
        (await root.run('export_private_key', { privateKeyId, targetPublicKey })).exportBundle,
      ];
      for (const bundle of [...imports, ...exports]) {
        const envelope = JSON.parse(bundle);
        expect(Object.keys(envelope)).toEqual(['version', 'data', 'dataSignature', 'enclaveQuorumPublic']);
        expect([envelope.version, envelope.enclaveQuorumPublic]).toEqual(['v1.0.0', signer]);
      }
      const point = expect.stringMatching(/^04[0-9a-f]{128}$/);
      for (const bundle of imports) {
        const { organizationId } = root;
        expect(readSigned(bundle)).toEqual({ targetPublic: point, organizationId, userId });
      }
      for (const bundle of exports) {
        expect(readSigned(bundle)).toEqual({
          encappedPublic: point,
          ciphertext: expect.stringMatching(/^[0-9a-f]+$/),
          organizationId: root.organizationId,
        });
      }
    });

    test('go to a target key in either spelling, and never to what is none', async () => {
      const { walletId } = await newWallet(root);
      const receiver = new Receiver();
      const y = Number.parseInt(receiver.publicKey.slice(-2), 16) % 2;
      const compressed = `0${2 + y}${receiver.publicKey.slice(2, 66)}`;
      const offCurve = `04${'11'.repeat(64)}`;
      for (const targetPublicKey of ['', 'xyz', '04', offCurve, `05${'11'.repeat(32)}`, receiver.publicKey.slice(2)]) {
        const answer = await root.submit('export_wallet', { walletId, targetPublicKey });
        expect(answer.status, targetPublicKey).toBe(400);
        expect(answer.body.message).toContain('targetPublicKey');
      }
      expect((await root.query('get_wallet', { walletId })).body.wallet.exported).toBe(false);
      const texts: string[] = [];
      for (const targetPublicKey of [receiver.publicKey, receiver.publicKey.toUpperCase(), compressed]) {
        const { exportBundle } = await root.run('export_wallet', { walletId, targetPublicKey });
        texts.push(receiver.open(exportBundle, root.organizationId).toString());
      }
      expect(new Set(texts).size).toBe(1);
    });
  });

  describe('a wallet', () => {
    test.each([
      ['as the import page writes it', '\n--PASS--\n'],
      ['as an export has it', '\n'],
    ])('with a passphrase, %s', async (_name, separator) => {
      const plain = await importWallet(root, KNOWN_WALLET.mnemonic);
      const { walletId, addresses } = await importWallet(root, `${KNOWN_WALLET.mnemonic}${separator}${PASSPHRASE}`);
      expect(plain.addresses).toEqual([KNOWN_WALLET.address]);
      // The seed of BIP-39's first vector: abandon … about with TREZOR.
      expect(addresses).toEqual(['0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6']);
      expect(await exportedText(root, walletId)).toBe(`${KNOWN_WALLET.mnemonic}\n${PASSPHRASE}`);
      expect((await root.query('get_wallet', { walletId })).body.wallet).toMatchObject({ imported: true });
    });

    test('in any spacing and case of spaces', async () => {
      const spaced = `  ${KNOWN_WALLET.mnemonic.replaceAll(' ', ' \u3000 ')}\t`;
      expect((await importWallet(root, spaced)).addresses).toEqual([KNOWN_WALLET.address]);
    });

    test.each([
      ['no words', ''],
      ['a wrong checksum', 'abandon '.repeat(12)],
      ['a word of no list', KNOWN_WALLET.mnemonic.replace('about', 'abouts')],
      ['eleven words', 'abandon '.repeat(11)],
      ['a passphrase alone', '\n--PASS--\nsecret'],
    ])('of %s is an invalid mnemonic', async (_name, text) => {
      const parameters = await walletImport(root, text, [ethereum()]);
      const answer = await root.submit('import_wallet', parameters);
      expect(outcome(answer)).toEqual([400, 'INVALID_BUNDLE']);
      expect(answer.body.message).toContain('invalid mnemonic');
    });

    test('is exported with its whole phrase, and an account as its 32 bytes', async () => {
      const { walletId, addresses } = await importWallet(root, KNOWN_WALLET.mnemonic, ACCOUNTS);
      for (const [index, { curve }] of ACCOUNTS.entries()) {
        const receiver = new Receiver();
        const answer = await root.run('export_wallet_account', {
          address: addresses[index],
          targetPublicKey: receiver.publicKey,
        });
        expect(answer).toEqual({ address: addresses[index], exportBundle: expect.any(String) });
        const key = receiver.open(answer.exportBundle, root.organizationId);
        expect(key).toHaveLength(32);
        // The key alone gives the same address.
        const format = ACCOUNTS[index]?.addressFormat.replace('ADDRESS_FORMAT_', '') as string;
        const imported = await importKey(root, curve.replace('CURVE_', ''), key.toString('hex'), [format]);
        expect(imported.addresses[0]?.address).toBe(addresses[index]);
      }
      expect((await root.query('get_wallet', { walletId })).body.wallet.exported).toBe(false);
      expect(await exportedText(root, walletId)).toBe(KNOWN_WALLET.mnemonic);
      expect((await root.query('get_wallet', { walletId })).body.wallet.exported).toBe(true);
    });
  });

  describe('a private key', () => {
    test.each([
      ['SECP256K1', '00'.repeat(32)],
      ['SECP256K1', 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'],
      ['P256', 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'],
      ['P256', '00'.repeat(32)],
      ['SECP256K1', '11'.repeat(31)],
      ['ED25519', '11'.repeat(64)],
    ])('on %s is not %s', async (curve, hex) => {
      const answer = await root.submit('import_private_key', await keyImport(root, curve, hex, []));
      expect(outcome(answer)).toEqual([400, 'INVALID_BUNDLE']);
    });

    test.each([
      ['SECP256K1', 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140'],
      ['P256', 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550'],
      ['ED25519', '00'.repeat(32)],
    ])('on %s can be %s', async (curve, hex) => {
      const { privateKeyId } = await importKey(root, curve, hex, ['COMPRESSED']);
      const receiver = new Receiver();
      const parameters = { privateKeyId, targetPublicKey: receiver.publicKey };
      const { exportBundle } = await root.run('export_private_key', parameters);
      expect(receiver.open(exportBundle, root.organizationId).toString('hex')).toBe(hex);
    });
  });

  describe('a target key', () => {
    test('works once', async () => {
      const client = await createSubOrganization(parent, 'Once');
      const parameters = await walletImport(client, KNOWN_WALLET.mnemonic, []);
      await client.run('import_wallet', parameters);
      const again = await client.submit('import_wallet', { ...parameters, walletName: aName('again') });
      expect(outcome(again)).toEqual([400, 'FAILED_PRECONDITION']);
      expect((await client.query('list_wallets')).body.wallets).toHaveLength(1);
    });

    test('is found among the newest of its user, and only those are kept', async () => {
      const client = await createSubOrganization(parent, 'Several');
      const targets: string[] = [];
      for (let made = 0; made < 6; made += 1) targets.push(await newImportTarget(client, 'wallet'));
      const attempt = async (target: string) =>
        outcome(
          await client.submit('import_wallet', {
            userId: client.userId,
            walletName: aName('several'),
            encryptedBundle: encryptTo(target, KNOWN_WALLET.mnemonic),
            accounts: [],
          }),
        );
      expect(await attempt(targets[0] as string)).toEqual([400, 'INVALID_BUNDLE']);
      for (const target of [targets[3], targets[1], targets[5]]) {
        expect(await attempt(target as string)).toEqual([200, COMPLETED]);
        expect(await attempt(target as string)).toEqual([400, 'INVALID_BUNDLE']);
      }
    });

    test('is for its user, its organization and its kind alone', async () => {
      const other = await createUser(root, 'other');
      const stranger = await createSubOrganization(parent, 'Stranger');
      const target = await newImportTarget(root, 'wallet');
      const encryptedBundle = encryptTo(target, KNOWN_WALLET.mnemonic);
      const wallet = (userId: string) => ({ userId, walletName: aName('own'), encryptedBundle, accounts: [] });
      // Another user of the organization, who may do as root does.
      await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId, other.userId] });
      await newImportTarget(other, 'wallet');
      await newImportTarget(stranger, 'wallet');
      await newImportTarget(root, 'private_key');
      expect(outcome(await other.submit('import_wallet', wallet(other.userId)))).toEqual([400, 'INVALID_BUNDLE']);
      expect(outcome(await stranger.submit('import_wallet', wallet(stranger.userId)))).toEqual([400, 'INVALID_BUNDLE']);
      const key = { userId: root.userId, privateKeyName: aName('k'), curve: 'CURVE_ED25519', addressFormats: [] };
      expect(outcome(await root.submit('import_private_key', { ...key, encryptedBundle }))).toEqual([
        400,
        'INVALID_BUNDLE',
      ]);
      // Nobody imports for somebody else.
      for (const [operation, parameters] of [
        ['import_wallet', wallet(root.userId)],
        ['init_import_wallet', { userId: root.userId }],
        ['init_import_private_key', { userId: root.userId }],
        ['import_private_key', { ...key, encryptedBundle }],
      ] as const) {
        expect(outcome(await other.submit(operation, parameters)), operation).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      }
      expect(outcome(await root.submit('import_wallet', wallet(root.userId)))).toEqual([200, COMPLETED]);
    });

    test('survives an attempt that fails, since that stores nothing', async () => {
      const client = await createSubOrganization(parent, 'Retry');
      const target = await newImportTarget(client, 'wallet');
      const attempt = async (text: string, extra = {}) =>
        outcome(
          await client.submit('import_wallet', {
            userId: client.userId,
            walletName: 'Retry',
            encryptedBundle: encryptTo(target, text),
            accounts: [],
            ...extra,
          }),
        );
      await newWallet(client, [], { walletName: 'Taken' });
      expect(await attempt('abandon')).toEqual([400, 'INVALID_BUNDLE']);
      expect(await attempt(KNOWN_WALLET.mnemonic, { walletName: 'Taken' })).toEqual([409, 'ALREADY_EXISTS']);
      expect(await attempt(KNOWN_WALLET.mnemonic)).toEqual([200, COMPLETED]);
    });

    test('opens only what is whole', async () => {
      const target = await newImportTarget(root, 'wallet');
      const good = JSON.parse(encryptTo(target, KNOWN_WALLET.mnemonic));
      const flip = (hex: string) => hex.slice(0, -1) + (hex.endsWith('0') ? '1' : '0');
      const other = createECDH('prime256v1').generateKeys('hex');
      const bundles = [
        '',
        'text',
        '{}',
        '[]',
        'null',
        JSON.stringify({ ...good, ciphertext: flip(good.ciphertext) }),
        JSON.stringify({ ...good, ciphertext: good.ciphertext.slice(2) }),
        JSON.stringify({ ...good, ciphertext: '' }),
        JSON.stringify({ ...good, encappedPublic: other }),
        JSON.stringify({ ...good, encappedPublic: flip(good.encappedPublic) }),
        JSON.stringify({ ciphertext: good.ciphertext }),
      ];
      const attempt = async (encryptedBundle: string) =>
        outcome(
          await root.submit('import_wallet', {
            userId: root.userId,
            walletName: aName('whole'),
            encryptedBundle,
            accounts: [],
          }),
        );
      for (const bundle of bundles) expect(await attempt(bundle), bundle).toEqual([400, 'INVALID_BUNDLE']);
      expect(await attempt(JSON.stringify(good))).toEqual([200, COMPLETED]);
    });
  });

  describe('with two who must agree', () => {
    let first: TestClient;
    let second: TestClient;
    let walletId: string;
    let address: string;
    let privateKeyId: string;

    beforeAll(async () => {
      first = await createSubOrganization(parent, 'Two');
      const wallet = await newWallet(first, [ethereum(), solana()]);
      walletId = wallet.walletId;
      address = wallet.addresses[0] as string;
      ({ privateKeyId } = await importKey(first, 'SECP256K1', '44'.repeat(32)));
      second = await needTwo(first);
    });

    const isExported = async () => ({
      wallet: (await first.query('get_wallet', { walletId })).body.wallet.exported,
      key: (await first.query('get_private_key', { privateKeyId })).body.privateKey.exported,
    });
    const deletes = async (operation: string, parameters: Record<string, unknown>) => {
      const { body } = await first.submit(operation, parameters);
      return (await approve(second, body.activity.fingerprint)).body.activity;
    };

    test('an export marks when it completes, and not before', async () => {
      const receiver = new Receiver();
      const targetPublicKey = receiver.publicKey;
      const pending = [];
      for (const [operation, parameters] of [
        ['export_wallet_account', { address, targetPublicKey }],
        ['export_private_key', { privateKeyId, targetPublicKey }],
        ['export_wallet', { walletId, targetPublicKey }],
      ] as const) {
        const answer = await first.submit(operation, parameters);
        expect(outcome(answer)).toEqual([200, PENDING]);
        expect(answer.body.activity.result).toEqual({});
        pending.push(answer.body.activity);
      }
      expect(await isExported()).toEqual({ wallet: false, key: false });
      const { accounts } = (await first.query('list_wallet_accounts', { walletId })).body;
      const [{ walletAccountId }] = accounts;
      const refused = await deletes('delete_wallet_accounts', { walletAccountIds: [walletAccountId] });
      expect(refused).toMatchObject({ status: FAILED, result: {} });
      expect(refused.failure.message).toContain('never exported');

      // The account alone, then it can go.
      const one = (await approve(second, pending[0].fingerprint)).body.activity;
      expect(one.status).toBe(COMPLETED);
      const { exportBundle } = one.result.exportWalletAccountResult;
      expect(receiver.open(exportBundle, first.organizationId)).toHaveLength(32);
      expect(await isExported()).toEqual({ wallet: false, key: false });
      expect(await deletes('delete_wallet_accounts', { walletAccountIds: [walletAccountId] })).toMatchObject({
        status: COMPLETED,
      });
      // A rejected export marks nothing.
      expect((await reject(second, pending[1].fingerprint)).body.activity.status).toBe('ACTIVITY_STATUS_REJECTED');
      expect(await isExported()).toEqual({ wallet: false, key: false });
      expect(await deletes('delete_private_keys', { privateKeyIds: [privateKeyId] })).toMatchObject({ status: FAILED });
      // The wallet.
      const whole = (await approve(second, pending[2].fingerprint)).body.activity;
      const words = receiver.open(whole.result.exportWalletResult.exportBundle, first.organizationId).toString();
      expect(words.split(' ')).toHaveLength(12);
      expect(await isExported()).toEqual({ wallet: true, key: false });
      // The bundle stays with the activity, for whoever holds the target key.
      const { activity } = (await first.query('get_activity', { activityId: pending[2].id })).body;
      expect(activity.result).toEqual(whole.result);
    });

    test('an export that fails marks nothing and has no result', async () => {
      const made = await first.submit('create_wallet', { walletName: aName('fails'), accounts: [ethereum()] });
      const done = (await approve(second, made.body.activity.fingerprint)).body.activity;
      const { walletId: id } = done.result.createWalletResult;
      const answer = await first.submit('export_wallet', { walletId: id, targetPublicKey: newKeyPair().publicKey });
      expect(await deletes('delete_wallets', { walletIds: [id], deleteWithoutExport: true })).toMatchObject({
        status: COMPLETED,
      });
      const failed = (await approve(second, answer.body.activity.fingerprint)).body.activity;
      expect(failed).toMatchObject({
        status: FAILED,
        result: {},
        failure: { message: expect.stringContaining('not found') },
      });
    });

    test('an import runs as its proposer, with the proposer’s target', async () => {
      const started = await first.submit('init_import_wallet', { userId: first.userId });
      const ready = (await approve(second, started.body.activity.fingerprint)).body.activity;
      const target = targetOf(ready.result.initImportWalletResult.importBundle);
      const parameters = (userId: string) => ({
        userId,
        walletName: aName('agreed'),
        encryptedBundle: encryptTo(target, KNOWN_WALLET.mnemonic),
        accounts: [ethereum()],
      });
      // For the approver, though it would be the approver who completes it: no.
      const wrong = await first.submit('import_wallet', parameters(second.userId));
      expect(outcome(wrong)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      const right = await first.submit('import_wallet', parameters(first.userId));
      expect(outcome(right)).toEqual([200, PENDING]);
      const done = (await approve(second, right.body.activity.fingerprint)).body.activity;
      expect(done.result).toEqual({
        importWalletResult: { walletId: expect.any(String), addresses: [KNOWN_WALLET.address] },
      });
    });
  });

  test('nothing of another organization is exported', async () => {
    const stranger = await createSubOrganization(parent, 'Elsewhere');
    const { walletId, addresses } = await newWallet(root);
    const targetPublicKey = newKeyPair().publicKey;
    for (const [operation, parameters] of [
      ['export_wallet', { walletId, targetPublicKey }],
      ['export_wallet', { walletId: randomUUID(), targetPublicKey }],
      ['export_wallet_account', { address: addresses[0], targetPublicKey }],
      ['export_wallet_account', { address: '', targetPublicKey }],
    ] as const) {
      expect(outcome(await stranger.submit(operation, parameters))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect((await root.query('get_wallet', { walletId })).body.wallet.exported).toBe(false);
  });
});

describe.each(databasesOf(import.meta.url))('the life of a target key on %s', (database) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await openTestApp(database);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('ends after an hour', async () => {
    const { root, advance } = service;
    const [early, late] = [
      await walletImport(root, KNOWN_WALLET.mnemonic, []),
      await walletImport(root, KNOWN_WALLET.mnemonic, []),
    ];
    const now = async () => ({ timestampMs: String(service.app.clock()) });
    advance(HOUR - 10_000);
    expect(outcome(await root.submit('import_wallet', early, await now()))).toEqual([200, COMPLETED]);
    advance(20_000);
    expect(outcome(await root.submit('import_wallet', late, await now()))).toEqual([400, 'FAILED_PRECONDITION']);
  });
});

describe('export then import', () => {
  let dataDir: string;
  let keyring: Keyring;
  let organizationKey: Uint8Array;
  const organizationId = randomUUID();

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'custos-property-'));
    keyring = await createKeyring({
      rootKey: `file:${join(dataDir, 'root.key')}`,
      create: true,
      exportLimits: { perOrganization: 0, inAll: 0 },
      log: () => {},
    });
    const installationKey = await keyring.createOrganizationKey('deployment');
    const { keyId, sealed } = await keyring.createServiceKey(installationKey, 'bundle-signer');
    await keyring.loadServiceKeys(installationKey, [{ role: 'bundle-signer', keyId, sealed }]);
    organizationKey = await keyring.createOrganizationKey(organizationId);
  });
  afterAll(async () => {
    await keyring.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const holder = () => ({ organizationKey, organizationId, ownerId: randomUUID() });
  const specs = ACCOUNTS as never;

  async function imported(plaintext: string) {
    const target = holder();
    const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, randomUUID());
    const wallet = holder();
    const targets = [{ id: target.ownerId, sealed: sealedTarget }];
    return { wallet, ...(await keyring.importWallet(wallet, targets, encryptTo(targetPublicKey, plaintext), specs)) };
  }

  async function exported(wallet: ReturnType<typeof holder>, sealedSeed: Uint8Array, language?: string) {
    const receiver = new Receiver();
    const bundle = await keyring.exportWallet(
      wallet,
      sealedSeed,
      language as MnemonicLanguage | undefined,
      Buffer.from(receiver.publicKey, 'hex'),
    );
    return receiver.open(bundle, organizationId).toString();
  }

  /** White space alone behind a phrase may be what an editor left there: it is a passphrase only in the frame. */
  const isTold = (passphrase: string): boolean =>
    passphrase === '' || (passphrase.trim() !== '' && !passphrase.includes('\n--PASS--\n'));

  test('gives the same addresses for any length, language and passphrase', async () => {
    const languages = [
      'ENGLISH',
      'SIMPLIFIED_CHINESE',
      'TRADITIONAL_CHINESE',
      'CZECH',
      'FRENCH',
      'ITALIAN',
      'JAPANESE',
      'KOREAN',
      'SPANISH',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(12, 15, 18, 21, 24),
        fc.constantFrom(...languages),
        fc.string({ unit: 'grapheme', maxLength: 40 }).filter(isTold),
        async (words, language, passphrase) => {
          const first = holder();
          const made = await keyring.createWallet(first, words as never, specs);
          const phrase = await exported(first, made.sealedSeed, `MNEMONIC_LANGUAGE_${language}`);
          expect(phrase.split(' ')).toHaveLength(words);
          const foreign = await imported(passphrase === '' ? phrase : `${phrase}\n--PASS--\n${passphrase}`);
          const text = await exported(foreign.wallet, foreign.sealedSeed);
          const again = await imported(text);
          expect(again.accounts).toEqual(foreign.accounts);
          const isSame = language === 'ENGLISH' && passphrase === '';
          expect(JSON.stringify(foreign.accounts) === JSON.stringify(made.accounts)).toBe(isSame);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('gives the same key for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'), async (curve) => {
        const secret = randomBytes(32);
        const target = holder();
        const { sealedTarget, targetPublicKey } = await keyring.createImportTarget(target, randomUUID());
        const key = holder();
        const { sealedKey } = await keyring.importPrivateKey(
          key,
          [{ id: target.ownerId, sealed: sealedTarget }],
          encryptTo(targetPublicKey, secret),
          curve as never,
          [],
        );
        const receiver = new Receiver();
        const bundle = await keyring.exportPrivateKey(key, sealedKey, Buffer.from(receiver.publicKey, 'hex'));
        expect(receiver.open(bundle, organizationId)).toEqual(secret);
      }),
      { numRuns: 30 },
    );
  });
});
