import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import {
  ADDRESS_VECTORS,
  account,
  aName,
  COMPLETED,
  ethereum,
  importKey,
  importWallet,
  newWallet,
  outcome,
} from './fixtures/wallets.ts';

const GONE = [404, 'RESOURCE_NOT_FOUND'];
const SIGNED = [200, COMPLETED];

// Which key an address or id stands for is remembered between requests (docs/decisions/0049). Each test signs first, so that
// the service knows the signer, and then changes what it knows.
describe.each(DATABASES)('a signer that the service has used before, on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  beforeAll(async () => {
    app = await openTestApp(database);
    root = await createSubOrganization(app.root, 'Signing');
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
  });

  const sign = async (client: TestClient, signWith: string) =>
    outcome(
      await client.submit('sign_raw_payload', {
        signWith,
        payload: randomBytes(32).toString('hex'),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      }),
    );

  async function knownWallet(client = root) {
    const { walletId, addresses } = await newWallet(client);
    const { body } = await client.query('list_wallet_accounts', { walletId });
    const [{ walletAccountId }] = body.accounts;
    const [address] = addresses as [string];
    for (const name of [address, walletAccountId, address.toLowerCase()])
      expect(await sign(client, name)).toEqual(SIGNED);
    return { walletId, address, walletAccountId };
  }
  async function knownKey(client = root, extra: object = {}) {
    const { privateKeys } = await client.run('create_private_keys', {
      privateKeys: [
        {
          privateKeyName: aName('key'),
          curve: 'CURVE_SECP256K1',
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
          privateKeyTags: [],
          ...extra,
        },
      ],
    });
    const { privateKeyId, addresses } = privateKeys[0];
    const { address } = addresses[0];
    for (const name of [address, privateKeyId]) expect(await sign(client, name)).toEqual(SIGNED);
    return { privateKeyId: privateKeyId as string, address: address as string };
  }
  /** As a tool that the operator runs beside the service. */
  async function elsewhere(statement: string): Promise<void> {
    if (database === 'sqlite') {
      const file = new SqliteFile(join(app.app.config.dataDir, 'custos.db'));
      file.exec(statement);
      file.close();
      return;
    }
    const client = new pg.Client({ connectionString: app.app.config.databaseUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  test('signs nothing once its wallet is deleted, however often it is asked to meanwhile', async () => {
    const { walletId, address, walletAccountId } = await knownWallet();
    let isDeleted = false;
    const late: unknown[] = [];
    const asking = Array.from({ length: 6 }, async (_, index) => {
      for (let count = 0; count < 30; count += 1) {
        const wasDeleted = isDeleted;
        const answer = await sign(root, index % 2 === 0 ? address : walletAccountId);
        if (wasDeleted && answer[0] !== 404) late.push(answer);
        if (answer[0] === 404) return;
      }
    });
    await root.run('delete_wallets', { walletIds: [walletId], deleteWithoutExport: true });
    isDeleted = true;
    await Promise.all(asking);
    expect(late).toEqual([]);
    for (const name of [address, walletAccountId]) expect(await sign(root, name)).toEqual(GONE);
    expect(outcome(await root.submit('create_wallet_accounts', { walletId, accounts: [ethereum(7)] }))).toEqual(GONE);
  });

  test('is gone with its account, while the wallet stays', async () => {
    const { walletId, address, walletAccountId } = await knownWallet();
    await root.run('delete_wallet_accounts', { walletAccountIds: [walletAccountId], deleteWithoutExport: true });
    for (const name of [address, walletAccountId]) expect(await sign(root, name)).toEqual(GONE);
    await root.run('create_wallet_accounts', { walletId, accounts: [ethereum()] });
    expect(await sign(root, address)).toEqual(SIGNED);
    expect(await sign(root, walletAccountId)).toEqual(GONE);
  });

  test('is gone with its private key', async () => {
    const { privateKeyId, address } = await knownKey();
    await root.run('delete_private_keys', { privateKeyIds: [privateKeyId], deleteWithoutExport: true });
    for (const name of [address, privateKeyId]) expect(await sign(root, name)).toEqual(GONE);
  });

  test('is no signer of another organization, also where the service knows it', async () => {
    const { address, walletAccountId } = await knownWallet();
    const key = await knownKey();
    const other = await createSubOrganization(app.root, 'Other');
    for (const name of [address, walletAccountId, key.address, key.privateKeyId]) {
      expect(await sign(other, name)).toEqual(GONE);
      expect(await sign(root, name)).toEqual(SIGNED);
      expect(await sign(other, name)).toEqual(GONE);
    }
  });

  test('is gone with its organization', async () => {
    const child = await createSubOrganization(app.root, 'Short-lived');
    const { address } = await knownWallet(child);
    await child.run('delete_sub_organization', { deleteWithoutExport: true });
    expect((await sign(child, address))[0]).not.toBe(200);
  });

  test('is judged by what its wallet is called now, and by whether it was exported', async () => {
    const child = await createSubOrganization(app.root, 'Ruled');
    const { walletId, address } = await knownWallet(child);
    const user = await createUser(child, 'Signer');
    await child.run('create_policy', {
      policyName: 'by label',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${user.userId}')`,
      condition: "wallet.label == 'hot' && wallet.exported == false",
      notes: '',
    });
    expect((await sign(user, address))[0]).toBe(403);
    await child.run('update_wallet', { walletId, walletName: 'hot' });
    expect(await sign(user, address)).toEqual(SIGNED);
    await child.run('update_wallet', { walletId, walletName: 'cold' });
    expect((await sign(user, address))[0]).toBe(403);
    await child.run('update_wallet', { walletId, walletName: 'hot' });
    expect(await sign(user, address)).toEqual(SIGNED);
    await child.run('export_wallet', { walletId, targetPublicKey: new Receiver().publicKey });
    expect((await sign(user, address))[0]).toBe(403);
  });

  test('is judged by the tags that its private key has now', async () => {
    const child = await createSubOrganization(app.root, 'Tagged');
    const { privateKeyTagId } = await child.run('create_private_key_tag', {
      privateKeyTagName: 'hot',
      privateKeyIds: [],
    });
    const { privateKeyId, address } = await knownKey(child);
    const user = await createUser(child, 'Signer');
    await child.run('create_policy', {
      policyName: 'by tag',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${user.userId}')`,
      condition: `private_key.tags.contains('${privateKeyTagId}')`,
      notes: '',
    });
    const change = (addPrivateKeyIds: string[], removePrivateKeyIds: string[]) =>
      child.run('update_private_key_tag', { privateKeyTagId, addPrivateKeyIds, removePrivateKeyIds });
    expect((await sign(user, address))[0]).toBe(403);
    await change([privateKeyId], []);
    expect(await sign(user, address)).toEqual(SIGNED);
    await change([], [privateKeyId]);
    expect((await sign(user, address))[0]).toBe(403);
  });

  test('gives way to an account that comes to its address', async () => {
    const child = await createSubOrganization(app.root, 'Twice');
    const vector = ADDRESS_VECTORS.find(({ addressFormat }) => addressFormat === 'ADDRESS_FORMAT_ETHEREUM');
    if (vector === undefined) throw new Error('there is no vector of Ethereum');
    const { mnemonic, path, privateKeyHex, address } = vector;
    await importKey(child, 'SECP256K1', privateKeyHex, ['ETHEREUM']);
    const user = await createUser(child, 'Signer');
    await child.run('create_policy', {
      policyName: 'wallets',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${user.userId}')`,
      condition: 'wallet.imported == true',
      notes: '',
    });
    expect(await sign(child, address)).toEqual(SIGNED);
    expect((await sign(user, address))[0]).toBe(403);
    const { addresses } = await importWallet(child, mnemonic, [account('SECP256K1', path, 'ETHEREUM')]);
    expect(addresses).toEqual([address]);
    expect(await sign(user, address)).toEqual(SIGNED);
  });

  test('is gone when another program deletes it', async () => {
    const { walletId, address, walletAccountId } = await knownWallet();
    await elsewhere(`DELETE FROM wallet_account WHERE id = '${walletAccountId}'`);
    for (const name of [address, walletAccountId]) expect(await sign(root, name)).toEqual(GONE);
    await elsewhere(`DELETE FROM wallet WHERE id = '${walletId}'`);
    expect(outcome(await root.submit('create_wallet_accounts', { walletId, accounts: [ethereum()] }))).toEqual(GONE);
    const key = await knownKey();
    await elsewhere(`DELETE FROM private_key_address WHERE private_key_id = '${key.privateKeyId}'`);
    expect(await sign(root, key.address)).toEqual(GONE);
    await elsewhere(`DELETE FROM private_key WHERE id = '${key.privateKeyId}'`);
    expect(await sign(root, key.privateKeyId)).toEqual(GONE);
  });

  test('signs on where a deletion was refused', async () => {
    const { walletId, address } = await knownWallet();
    const refused = await root.submit('delete_wallets', {
      walletIds: [walletId, root.userId],
      deleteWithoutExport: true,
    });
    expect(outcome(refused)).toEqual(GONE);
    expect(await sign(root, address)).toEqual(SIGNED);
  });
});
