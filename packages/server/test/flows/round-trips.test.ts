import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { createPostgresDatabase } from '../harness/databases.ts';
import { Wire } from '../harness/wire.ts';

describe('round trips to PostgreSQL', () => {
  const opened: AsyncDisposable[] = [];
  let wire: Wire;
  let app: TestApp;
  let client: TestClient;
  let user: TestClient;
  beforeAll(async () => {
    const database = await createPostgresDatabase();
    wire = await Wire.open(database.url);
    app = await openTestApp('postgres', { CUSTOS_DATABASE_URL: wire.url, CUSTOS_DATABASE_POOL: '2' });
    opened.push(database, wire, app);
    client = await createSubOrganization(app.root, 'Counted');
    user = await createUser(client, 'User');
  });
  afterAll(async () => {
    for (const resource of opened.reverse()) await resource[Symbol.asyncDispose]();
  });

  /** The fewest of several tries: workers of the service ask for their own work now and then. */
  async function fewest(ask: (count: number) => Promise<unknown>): Promise<number> {
    const counts: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const before = wire.trips;
      await ask(count);
      counts.push(wire.trips - before);
    }
    return Math.min(...counts);
  }

  test('a query of the caller alone takes one', async () => {
    expect(await fewest(() => client.query('whoami'))).toBe(1);
  });

  test('a rename takes three: the caller; the locks; what is written, with the commit', async () => {
    const rename = (count: number) =>
      client.run('update_user_name', { userId: user.userId, userName: `Name ${count}` });
    expect(await fewest(rename)).toBe(3);
  });

  const ACCOUNT = {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  };
  const account = (index: number) => ({ ...ACCOUNT, path: `m/44'/60'/0'/0/${index}` });
  const newWallet = (name: string) => client.run('create_wallet', { walletName: name, accounts: [account(0)] });

  test('a new wallet takes three', async () => {
    expect(await fewest((count) => newWallet(`Wallet ${count}`))).toBe(3);
  });

  test('new accounts of a wallet take four: the wallet is looked up before its seed is used', async () => {
    const { walletId } = await newWallet('With accounts');
    const add = (count: number) => client.run('create_wallet_accounts', { walletId, accounts: [account(1 + count)] });
    expect(await fewest(add)).toBe(4);
  });

  test('a signature takes four: the key is looked up before it signs', async () => {
    const { addresses } = await newWallet('Signer');
    const sign = (count: number) =>
      client.run('sign_raw_payload', {
        signWith: addresses[0],
        payload: `payload ${count}`,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
    expect(await fewest(sign)).toBe(4);
  });

  test('a login takes seven at most: its user is held, and the keys that it has are read', async () => {
    expect(await fewest(() => client.run('stamp_login', { publicKey: newKeyPair().publicKey }))).toBeLessThanOrEqual(7);
  });
});
