import { encodeFunctionData, erc20Abi, serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKeyTag, newPrivateKey } from '../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { createPostgresDatabase } from '../harness/databases.ts';
import { Wire } from '../harness/wire.ts';
import { policyFor } from './fixtures/access.ts';

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

  /**
   * What several tries take without what others ask: on a busy machine a try lasts so long that workers of the service ask
   * during most of them. The first one finds nothing prepared, and one that has nothing to read must not count for all.
   */
  async function usually(ask: (count: number) => Promise<unknown>): Promise<number> {
    const counts: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const before = wire.trips;
      await ask(count);
      counts.push(wire.trips - before);
    }
    return counts.sort((one, other) => one - other)[Math.floor(counts.length / 4)] as number;
  }

  test('a query of the caller alone takes one', async () => {
    expect(await usually(() => client.query('whoami'))).toBe(1);
  });

  test('a rename takes three: the caller; the locks; what is written, with the commit', async () => {
    const rename = (count: number) =>
      client.run('update_user_name', { userId: user.userId, userName: `Name ${count}` });
    expect(await usually(rename)).toBe(3);
  });

  const ACCOUNT = {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  };
  const account = (index: number) => ({ ...ACCOUNT, path: `m/44'/60'/0'/0/${index}` });
  const newWallet = (name: string) => client.run('create_wallet', { walletName: name, accounts: [account(0)] });

  test('a new wallet takes three', async () => {
    expect(await usually((count) => newWallet(`Wallet ${count}`))).toBe(3);
  });

  test('new accounts of a wallet take four: the wallet is looked up before its seed is used', async () => {
    const { walletId } = await newWallet('With accounts');
    const add = (count: number) => client.run('create_wallet_accounts', { walletId, accounts: [account(1 + count)] });
    expect(await usually(add)).toBe(4);
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
    expect(await usually(sign)).toBe(4);
  });

  test('a signature by a private key takes eight: no account has its address; then the key, and what belongs to it', async () => {
    const { address } = await newPrivateKey(client, 'Key', [await newKeyTag(client, 'Tag')]);
    const sign = (count: number) =>
      client.run('sign_raw_payload', {
        signWith: address,
        payload: `payload ${count}`,
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_SHA256',
      });
    expect(await usually(sign)).toBe(8);
  });

  test('a call of a contract that policies decide about takes ten, however many interfaces there are', async () => {
    const { addresses } = await newWallet('Caller');
    const upload = (index: number) =>
      client.run('create_smart_contract_interface', {
        smartContractAddress: `0x${index.toString(16).padStart(40, '0')}`,
        smartContractInterface: JSON.stringify(erc20Abi),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: `Token ${index}`,
      });
    for (let index = 1; index <= 20; index += 1) await upload(index);
    const member = await createUser(client, 'Member');
    await policyFor(client, member, { condition: "eth.tx.function_name == 'transfer'" });
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [`0x${'1'.repeat(40)}`, 1n] });
    const sign = (count: number) =>
      member.run('sign_transaction', {
        signWith: addresses[0],
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: serializeTransaction({
          chainId: 1,
          type: 'eip1559',
          nonce: count,
          to: `0x${(1 + count).toString(16).padStart(40, '0')}`,
          data,
        }).slice(2),
      });
    expect(await usually(sign)).toBe(10);
  });

  test('what features there are takes two', async () => {
    expect(await usually(() => client.query('get_organization_configs'))).toBe(2);
  });

  test('a login takes three: what its vote keeps of the user is known by its digest', async () => {
    const logIn = () => client.run('stamp_login', { publicKey: newKeyPair().publicKey });
    expect(await usually(logIn)).toBe(3);
    // From the eleventh on each one removes the oldest.
    expect(await usually(logIn)).toBe(3);
  });

  test('a page of users takes four: who asks; the users; how much they own; what they own', async () => {
    expect(await usually(() => client.query('list_users'))).toBe(4);
  });
});
