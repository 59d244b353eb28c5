import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stubContract, stubToken } from '../../chain/stub-contracts.ts';
import { StubNode } from '../../chain/stub-node.ts';
import { openTestApp } from '../../harness/app.ts';
import { Receiver } from '../../harness/bundles.ts';
import { newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { COMPLETED, outcome, times } from '../fixtures/access.ts';
import { LoginService, MAIL } from '../fixtures/logins.ts';
import { apiKeyOf, rootUser, signUpParams } from '../fixtures/oauth.ts';
import { keyParams, LISTS, newEmail, ProxyWorld } from '../fixtures/proxy.ts';
import { ADDRESS_VECTORS, aName, ethereum, exportedText, importWallet, newWallet } from '../fixtures/wallets.ts';

// Single sentences about operations, each shown by one test.

const DONE = [200, COMPLETED];

describe.each(databasesOf(import.meta.url))('single operations on %s', (database) => {
  let world: ProxyWorld;
  let root: TestClient;

  beforeAll(async () => {
    world = await ProxyWorld.open(database);
    root = world.root;
  });
  afterAll(async () => world?.[Symbol.asyncDispose]());

  test('export_wallet_account marks every account that shares the address', async () => {
    const first = await newWallet(root, [ethereum(0), ethereum(1)]);
    const words = await exportedText(root, first.walletId);
    const sub = await importWallet(root, words, [ethereum(0), ethereum(1)]);
    const again = await importWallet(root, words, [ethereum(0)]);
    const accounts = async (walletId: string) =>
      (await root.query('list_wallet_accounts', { walletId })).body.accounts as {
        walletAccountId: string;
        address: string;
      }[];
    const [address, other] = first.addresses as [string, string];
    const { publicKey: targetPublicKey } = new Receiver();
    // An address in other letters is the same address.
    await root.run('export_wallet_account', { address: address.toLowerCase(), targetPublicKey });
    const deletable = async (walletId: string, which: string) => {
      const found = (await accounts(walletId)).find((account) => account.address === which);
      return outcome(await root.submit('delete_wallet_accounts', { walletAccountIds: [found?.walletAccountId ?? ''] }));
    };
    expect(await deletable(sub.walletId, other)).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
    expect(await deletable(sub.walletId, address)).toEqual(DONE);
    expect(await deletable(again.walletId, address)).toEqual(DONE);
  });

  test('a sign-up takes as many accounts and credentials as create_sub_organization', async () => {
    const accounts = [...new Map(ADDRESS_VECTORS.map((each) => [each.addressFormat, each])).values()].map(
      ({ curve, path, addressFormat }) => ({ curve, pathFormat: 'PATH_FORMAT_BIP32', path, addressFormat }),
    );
    expect(accounts).toHaveLength(38);
    const sent = {
      ...LISTS,
      userEmail: newEmail(),
      apiKeys: times(40, () => keyParams(newKeyPair())),
      wallet: { walletName: 'Every format', accounts },
    };
    const answer = await world.proxy.call('signup_v2', sent);
    expect([answer.status, answer.body.message]).toEqual([200, undefined]);
    expect(answer.body.wallet.addresses).toHaveLength(38);
  });

  test('a clientSignature without a verification token is ignored', async () => {
    const clientSignature = {
      publicKey: newKeyPair().publicKey,
      scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256',
      message: 'anything',
      signature: '00',
    };
    const user = () => rootUser({ apiKeys: [apiKeyOf(newKeyPair())] });
    expect(outcome(await root.submit('create_sub_organization', signUpParams(user())))).toEqual(DONE);
    const signed = signUpParams(user(), { clientSignature });
    expect(outcome(await root.submit('create_sub_organization', signed))).toEqual(DONE);
    const sent = { ...LISTS, apiKeys: [keyParams(newKeyPair())], clientSignature };
    expect((await world.proxy.call('signup_v2', sent)).status).toBe(200);
  });

  test.each([
    ['policyCondition', 'INVALID_POLICY_CONDITION'],
    ['policyConsensus', 'INVALID_POLICY_CONSENSUS'],
    ['time', 'INVALID_TIME'],
  ])('update_policy names %s in the violations', async (field, code) => {
    const policy = { policyName: aName('policy'), effect: 'EFFECT_DENY', condition: 'false', notes: '' };
    const { policyId } = await root.run('create_policy', policy);
    expect(outcome(await root.submit('update_policy', { policyId, [field]: 'true' }))).toEqual(DONE);
    const { body } = await root.submit('update_policy', { policyId, [field]: 'true &&' });
    expect(body.errorCode).toBe(code);
    const violations = body.details.flatMap(
      (each: { fieldViolations?: { field: string }[] }) => each.fieldViolations ?? [],
    );
    expect(violations.map((each: { field: string }) => each.field)).toEqual([`parameters.${field}`]);
  });
});

test('the key of otp_auth is called OTP Auth and the time, with a number where that is taken', async () => {
  await using logins = await LoginService.open('sqlite');
  const { byParent, user, email } = await logins.newPerson();
  const login = async (extra: object = {}) => {
    const { otpId } = await byParent.run('init_otp_auth', { otpType: MAIL, contact: email, appName: 'App' });
    const otpCode = await logins.code(email);
    const { publicKey: targetPublicKey } = new Receiver();
    const { apiKeyId } = await byParent.run('otp_auth', { otpId, otpCode, targetPublicKey, ...extra });
    return (await user.query('get_api_key', { apiKeyId })).body.apiKey.apiKeyName as string;
  };
  const name = await login();
  expect(name).toMatch(/^OTP Auth - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await login({ apiKeyName: name })).toBe(`${name} (2)`);
});

test('the curator of a vault is the name in the list of the operator, and never an address', async () => {
  const [token, named, unnamed] = [1, 2, 3].map((n) => `0x${String(n).padStart(40, '0')}` as const) as [
    `0x${string}`,
    `0x${string}`,
    `0x${string}`,
  ];
  await using node = await StubNode.start();
  const vault = stubContract({
    'asset() returns (address)': token,
    'totalAssets() returns (uint256)': 10n ** 12n,
    'name() returns (string)': 'Vault',
    'decimals() returns (uint8)': 18,
    'curator() returns (address)': token,
  });
  node.contracts.set(token, stubToken('USDC', 6, {}));
  for (const address of [named, unnamed]) node.contracts.set(address, vault);
  const vaults = [{ address: named, curator: 'Steakhouse, Gauntlet' }, unnamed];
  const chains = { [node.caip2]: { rpcUrls: [node.url], vaults } };
  await using app = await openTestApp('sqlite', { CUSTOS_CHAINS: JSON.stringify(chains) });
  const { body } = await app.root.query('list_earn_vaults', { caip19: `${node.caip2}/erc20:${token}` });
  const curators = body.vaults.map((each: { vaultAddress: string; curator: string }) => [
    each.vaultAddress,
    each.curator,
  ]);
  expect(Object.fromEntries(curators)).toEqual({ [named]: 'Steakhouse, Gauntlet', [unnamed]: '' });
});
