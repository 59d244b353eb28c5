import { encodeFunctionData, type Hex, parseAbi, serializeTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ethereum, newWallet } from './fixtures/wallets.ts';

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const TOKEN = '0x6B175474E89094C44Da98b954EedeAC495271d0F';
const STRANGER = '0x9Be4c1D2a3B4C5d6E7f8091A2b3c4D5e6f708192'.toLowerCase() as Hex;
/** The same four digits at both ends, and another address. */
const ALIKE = `${STRANGER.slice(0, 6)}${'0'.repeat(32)}${STRANGER.slice(-4)}` as Hex;
const CUSTOS_CHAINS = JSON.stringify({
  'eip155:1': {
    rpcUrls: ['https://node.invalid/'],
    assets: [{ caip19: `eip155:1/erc20:${USDC}`, symbol: 'USDC', name: 'USD Coin', decimals: 6 }],
  },
});
const ERC20 = parseAbi(['function transfer(address to, uint256 amount)', 'function approve(address s, uint256 a)']);

let nonce = 0;
const unsigned = (to: string, data?: Hex, value = 0n, chainId = 1): string => {
  nonce += 1;
  return serializeTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to: to as Hex,
    value,
    ...(data && { data }),
    gas: 60_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  }).slice(2);
};
const transfer = (to: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: ERC20, functionName: 'transfer', args: [to, amount] });

describe.each(databasesOf(import.meta.url))('activities in words on %s', (database) => {
  let service: TestApp;
  let root: TestClient;
  let treasury: string;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_CHAINS });
    root = service.root;
    const { addresses } = await newWallet(root, [ethereum()], { walletName: 'Treasury' });
    [treasury = ''] = addresses;
  });
  afterAll(async () => await service[Symbol.asyncDispose]());

  const sign = (client: TestClient, unsignedTransaction: string, signWith = treasury) =>
    client.submit('sign_transaction', { signWith, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction });
  const describeId = async (client: TestClient, activityId: string) =>
    (await client.query('describe_activity', { activityId })).body.description;
  const draft = async (type: string, parameters: unknown) =>
    (await root.query('describe_activity', { request: { type, parameters } })).body.description;
  const plain = (text: string): string => text.replaceAll('\u00a0', ' ');

  test('a payment is the first, then known; an address that looks like it is dangerous', async () => {
    const first = await sign(root, unsigned(USDC, transfer(STRANGER, 12_500_000_000n)));
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const told = await describeId(root, first.body.activity.id);
    expect(plain(told.text)).toMatch(/^Send 12,500 USDC from Treasury on Ethereum to 0x\S+, never paid from here\.$/);
    expect(told).toMatchObject({
      risk: 'LOOK_CLOSELY',
      kind: 'Sign a transaction',
      sender: { name: 'Treasury', address: treasury, walletId: expect.any(String), caip2: 'eip155:1' },
      bytes: { algorithm: 'keccak-256', digest: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    });
    const parameters = (data: Hex) => ({
      signWith: treasury,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: unsigned(USDC, data),
    });
    const again = await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters(transfer(STRANGER, 1n)));
    expect(again).toMatchObject({ risk: 'ROUTINE', marks: [], recipients: [{ paidCount: 1 }] });
    expect(again).not.toHaveProperty('consequence');
    const alike = await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters(transfer(ALIKE, 1n)));
    expect(alike.risk).toBe('DANGER');
    expect(alike.recipients[0].lookAlike.address.toLowerCase()).toBe(STRANGER);
    const own = `${treasury.slice(0, 6)}${'0'.repeat(32)}${treasury.slice(-4)}`.toLowerCase() as Hex;
    expect(await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters(transfer(own, 1n)))).toMatchObject({
      risk: 'DANGER',
      recipients: [{ lookAlike: { address: treasury, name: 'Treasury' } }],
    });
  });

  test('what costs nothing, or happened on another chain, makes no address known', async () => {
    const fresh = '0x5eb1c1d2a3b4c5d6e7f8091a2b3c4d5e6f70abcd';
    const alike = `${fresh.slice(0, 6)}${'1'.repeat(32)}${fresh.slice(-4)}` as Hex;
    const told = async (to: Hex, chainId?: number) =>
      await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
        signWith: treasury,
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: unsigned(to, undefined, 1n, chainId),
      });
    const signed = async (unsignedTransaction: string) => {
      const { status, body } = await sign(root, unsignedTransaction);
      expect(status, JSON.stringify(body)).toBe(200);
    };
    await signed(unsigned(fresh, undefined, 0n));
    await signed(unsigned(USDC, transfer(fresh, 0n)));
    await signed(unsigned(TOKEN, transfer(fresh, 10n ** 18n)));
    expect(await told(fresh)).toMatchObject({ risk: 'LOOK_CLOSELY', recipients: [{ paidCount: 0 }] });
    await signed(unsigned(fresh, undefined, 1n, 8453));
    expect(await told(fresh)).toMatchObject({ risk: 'LOOK_CLOSELY', recipients: [{ paidCount: 0 }] });
    expect(await told(fresh, 8453)).toMatchObject({ risk: 'ROUTINE', recipients: [{ paidCount: 1 }] });
    // An address that resembles one paid on any chain is dangerous on each until it is paid there itself.
    expect((await told(alike)).risk).toBe('DANGER');
    await signed(unsigned(alike, undefined, 1n, 8453));
    expect((await told(alike)).risk).toBe('DANGER');
    expect((await told(alike, 8453)).risk).toBe('ROUTINE');
  });

  test('an uploaded interface makes a call readable, and a pending one is told alike', async () => {
    const second = await createUser(root, 'second');
    const data = encodeFunctionData({ abi: ERC20, functionName: 'approve', args: [STRANGER, 2n ** 256n - 1n] });
    const blind = await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
      signWith: treasury,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: unsigned(TOKEN, data),
    });
    expect(blind).toMatchObject({ risk: 'UNREADABLE', text: expect.stringContaining('nobody here can read') });
    await root.run('create_smart_contract_interface', {
      smartContractAddress: TOKEN,
      smartContractInterface: JSON.stringify(ERC20),
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'DAI',
      notes: '',
    });
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const pending = await sign(root, unsigned(TOKEN, data));
    const { id, status } = pending.body.activity;
    expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const told = await describeId(second, id);
    expect(told).toMatchObject({ risk: 'DANGER', consequence: expect.stringContaining('I want that.') });
    expect(told.text).toMatch(/^Let 0x\S+ spend unlimited DAI of Treasury on Ethereum, until taken back\.$/);
    const listed = await second.query('list_approvals', { filter: 'FOR_ME' });
    const [approval] = listed.body.approvals;
    const { bytes: _bytes, ...brief } = told;
    expect(approval).toMatchObject({ activity: { id }, description: brief });
    expect((await second.query('get_approval', { activityId: id })).body.approval.description).toEqual(told);
    const several = await second.query('describe_activities', {
      activityIds: [id, '00000000-0000-4000-8000-000000000000'],
    });
    expect(several.body.descriptions).toEqual([brief]);
    const quorum = await root.submit('update_root_quorum', { threshold: 1, userIds: [root.userId, second.userId] });
    expect(await describeId(second, quorum.body.activity.id)).toMatchObject({
      text: 'Lower the root quorum from 2 of 2 to 1 of 2: any one of Root, second could do everything alone.',
      risk: 'DANGER',
      quorumChange: { before: { threshold: 2 }, after: { threshold: 1 } },
    });
    await second.submit('approve_activity', { fingerprint: quorum.body.activity.fingerprint });
  });

  test('names stay in their organization, and a parent reads those of its sub-organizations', async () => {
    const sub = await createSubOrganization(root, 'Elsewhere');
    const { addresses } = await newWallet(sub, [ethereum()], { walletName: 'Hidden' });
    const [hidden = ''] = addresses;
    const signed = await sign(sub, unsigned(STRANGER, undefined, 1n), hidden);
    const { id } = signed.body.activity;
    const { body } = await root.query('describe_activity', { organizationId: sub.organizationId, activityId: id });
    expect(body.description.text).toContain('from Hidden');
    expect((await root.query('describe_activity', { activityId: id })).status).toBe(404);
    const foreign = await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
      signWith: hidden,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: unsigned(STRANGER, undefined, 1n),
    });
    expect(JSON.stringify(foreign)).not.toContain('Hidden');
    const stranger = await createSubOrganization(root, 'Third');
    expect((await stranger.query('describe_activity', { activityId: id })).status).toBe(404);
  });

  test('older versions and what was not kept are told too', async () => {
    const [privateKeyId] = (
      await root.run('create_private_keys', {
        privateKeys: [
          {
            privateKeyName: 'Signer',
            curve: 'CURVE_SECP256K1',
            privateKeyTags: [],
            addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
          },
        ],
      })
    ).privateKeys.map(({ privateKeyId: keyId }: { privateKeyId: string }) => keyId);
    const older = await draft('ACTIVITY_TYPE_SIGN_TRANSACTION', {
      privateKeyId,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: unsigned(STRANGER, undefined, 10n ** 18n),
    });
    expect(plain(older.text)).toMatch(/^Send 1 ETH from Signer to 0x\S+ on Ethereum\.$/);
    const nobody = await createUser(root, 'nobody');
    const denied = await nobody.submit('sign_raw_payload', {
      signWith: treasury,
      payload: 'x'.repeat(6_000),
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_SHA256',
    });
    expect(denied.status).toBe(403);
    const { activities } = (await root.query('list_activities', { filterByStatus: ['ACTIVITY_STATUS_REJECTED'] })).body;
    expect(await describeId(root, activities[0].id)).toMatchObject({
      risk: 'UNREADABLE',
      text: expect.stringContaining('only the digest was kept'),
    });
  });

  test('what cannot be told is refused precisely', async () => {
    const both = await root.query('describe_activity', {});
    expect([both.status, both.body.errorCode]).toEqual([400, 'REQUEST_INVALID']);
    const unknown = await root.query('describe_activity', { request: { type: 'ACTIVITY_TYPE_NONE', parameters: {} } });
    expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining('request.type')]);
    const wrong = await root.query('describe_activity', {
      request: { type: 'ACTIVITY_TYPE_CREATE_WALLET', parameters: { walletName: 7, accounts: [] } },
    });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('walletName')]);
    const broken = await draft('ACTIVITY_TYPE_SIGN_TRANSACTION_V2', {
      signWith: treasury,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: 'zz',
    });
    expect(broken).toMatchObject({ risk: 'UNREADABLE', text: 'Sign a transaction with Treasury that cannot be read.' });
  });
});
