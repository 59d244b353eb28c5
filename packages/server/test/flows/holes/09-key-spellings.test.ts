import { createECDH, ECDH } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { encryptTo, readSigned } from '../../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, send, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { COMPLETED, from, outcome } from '../fixtures/access.ts';

const HOME = '203.0.113.5';
const AWAY = '198.51.100.7';
const DONE = [200, COMPLETED];
const NOT_A_KEY = [400, 'INVALID_PUBLIC_KEY'];
const rules = [{ cidr: '203.0.113.0/24' }];

const uncompressed = (publicKey: string, curve = 'prime256v1') =>
  ECDH.convertKey(publicKey, curve, 'hex', 'hex', 'uncompressed') as string;
/** Every way to write a P-256 key that requests may use. */
const SPELLINGS: [string, (publicKey: string) => string][] = [
  ['compressed', (publicKey) => publicKey],
  ['compressed, in capitals', (publicKey) => publicKey.toUpperCase()],
  ['uncompressed', (publicKey) => uncompressed(publicKey)],
  ['uncompressed, in capitals', (publicKey) => uncompressed(publicKey).toUpperCase()],
];
const NO_KEYS: [string, string][] = [
  ['a prefix', `0x${newKeyPair().publicKey}`],
  ['a word', 'key'],
  ['too few digits', newKeyPair().publicKey.slice(4)],
  ['no point of a curve', `04${'00'.repeat(64)}`],
];

describe.each(databasesOf(import.meta.url))('one key, however it is written, on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  beforeAll(async () => {
    service = await openTestApp(database, {
      CUSTOS_TRUSTED_PROXIES: '127.0.0.1/32',
      CUSTOS_FAILED_AUTH_PER_MINUTE: '0',
    });
    parent = service.root;
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  describe('IP allowlists of keys', () => {
    const listOf = async (client: TestClient, publicKey: string) =>
      (await client.query('get_ip_allowlist', { publicKey })).body.allowlist;
    const statusFrom = async (client: TestClient, address: string) =>
      (await from(client, address).query('whoami')).status;

    test.each(SPELLINGS)('set, read and removed with the key %s', async (_name, spell) => {
      const root = from(await createSubOrganization(parent, 'Org'), HOME);
      const user = from(await createUser(root, 'User'), HOME);
      const { publicKey } = user.key;
      const written = spell(publicKey);
      expect(outcome(await root.submit('set_ip_allowlist', { publicKey: written, rules }))).toEqual(DONE);
      expect(await statusFrom(user, HOME)).toBe(200);
      expect(await statusFrom(user, AWAY)).toBe(403);
      for (const [, other] of SPELLINGS) {
        expect(await listOf(root, other(publicKey))).toMatchObject({
          publicKey,
          rules: [expect.objectContaining(rules[0] as object)],
        });
      }
      // The same list rather than a second one.
      expect(outcome(await root.submit('set_ip_allowlist', { publicKey, rules: [{ cidr: '0.0.0.0/0' }] }))).toEqual(
        DONE,
      );
      expect(await statusFrom(user, AWAY)).toBe(200);
      await root.run('set_ip_allowlist', { publicKey, rules });
      expect(outcome(await root.submit('remove_ip_allowlist', { publicKey: written }))).toEqual(DONE);
      expect(await statusFrom(user, AWAY)).toBe(200);
      expect((await listOf(root, publicKey)).rules).toEqual([]);
    });

    test('a list cannot shut its own caller out by another spelling of the key', async () => {
      const root = from(await createSubOrganization(parent, 'Org'), HOME);
      const publicKey = uncompressed(root.key.publicKey);
      const away = { publicKey, rules: [{ cidr: '192.0.2.0/24' }] };
      expect(outcome(await root.submit('set_ip_allowlist', away))).toEqual([400, 'IP_LOCKOUT']);
      expect(outcome(await root.submit('set_ip_allowlist', { publicKey, rules }))).toEqual(DONE);
    });

    test('keys of the other curves', async () => {
      const root = from(await createSubOrganization(parent, 'Org'), HOME);
      const secp256k1 = createECDH('secp256k1').generateKeys('hex', 'compressed');
      const edwards = Buffer.from(ed25519.keygen().publicKey).toString('hex');
      const apiKeys = [
        { apiKeyName: 'k', publicKey: secp256k1, curveType: 'API_KEY_CURVE_SECP256K1' },
        { apiKeyName: 'e', publicKey: edwards, curveType: 'API_KEY_CURVE_ED25519' },
      ];
      await root.run('create_api_keys', { userId: root.userId, apiKeys });
      await root.run('set_ip_allowlist', { publicKey: uncompressed(secp256k1, 'secp256k1'), rules });
      await root.run('set_ip_allowlist', { publicKey: edwards.toUpperCase(), rules });
      expect((await listOf(root, secp256k1)).rules).toHaveLength(1);
      expect((await listOf(root, edwards)).rules).toHaveLength(1);
    });

    test.each(NO_KEYS)('%s is refused by name', async (_name, publicKey) => {
      const root = from(await createSubOrganization(parent, 'Org'), HOME);
      const answers = [
        await root.submit('set_ip_allowlist', { publicKey, rules }),
        await root.submit('remove_ip_allowlist', { publicKey }),
        await root.query('get_ip_allowlist', { publicKey }),
      ];
      expect(answers.map(outcome)).toEqual([NOT_A_KEY, NOT_A_KEY, NOT_A_KEY]);
      for (const { body } of answers) expect(JSON.stringify(body)).toContain('publicKey');
    });

    test('a key that nobody has gets no list', async () => {
      const root = from(await createSubOrganization(parent, 'Org'), HOME);
      const { publicKey } = newKeyPair();
      expect(outcome(await root.submit('set_ip_allowlist', { publicKey, rules }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    });
  });

  test.each(SPELLINGS)('a sub-organization is found by the key %s', async (_name, spell) => {
    const user = await createSubOrganization(parent, 'Org');
    const filterValue = spell(user.key.publicKey);
    const { body } = await parent.query('list_suborgs', { filterType: 'PUBLIC_KEY', filterValue });
    expect(body.organizationIds).toEqual([user.organizationId]);
    await parent.run('enable_auth_proxy', {});
    const { configId } = (await parent.query('get_auth_proxy_config')).body.authProxyConfig;
    const found = await send(
      service.baseUrl,
      '/v1/account',
      JSON.stringify({ filterType: 'PUBLIC_KEY', filterValue }),
      {
        'x-auth-proxy-config-id': configId,
        origin: 'https://app.example',
      },
    );
    expect(found.body).toEqual({ organizationId: user.organizationId });
  });

  test.each(SPELLINGS)('a secret is imported to the target %s', async (_name, spell) => {
    const root = await createSubOrganization(parent, 'Org');
    const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
    const { enclaveTargetMessages } = await root.run('init_import_secrets', { encryptionSuite, numSecrets: 1 });
    const targetPublic = readSigned(enclaveTargetMessages[0]).targetPublic as string;
    const secret = {
      name: 'Secret',
      secretPayload: encryptTo(targetPublic, 'hidden'),
      targetPublicKey: spell(ECDH.convertKey(targetPublic, 'prime256v1', 'hex', 'hex', 'compressed') as string),
      encryptionSuite,
    };
    expect(outcome(await root.submit('import_secrets', { secrets: [secret] }))).toEqual(DONE);
  });

  test.each(NO_KEYS)('a search by %s finds nobody', async (_name, filterValue) => {
    const found = await parent.query('list_suborgs', { filterType: 'PUBLIC_KEY', filterValue });
    expect([found.status, found.body.organizationIds]).toEqual([200, []]);
  });

  test.each(SPELLINGS)('a consensus that names the key %s', async (_name, spell) => {
    const root = await createSubOrganization(parent, 'Org');
    const [user, other] = [await createUser(root, 'User'), await createUser(root, 'Other')];
    const written = spell(user.key.publicKey);
    await root.run('create_policy', {
      policyName: 'By key',
      effect: 'EFFECT_ALLOW',
      condition: "activity.resource == 'USER'",
      consensus: `credentials.any(credential, credential.public_key == '${written}')`,
      notes: '',
    });
    const tag = (client: TestClient) => client.submit('create_user_tag', { userTagName: 'Tag', userIds: [] });
    expect(outcome(await tag(user))).toEqual(DONE);
    expect(outcome(await tag(other))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
  });

  test.each(SPELLINGS)('a policy on the target of exports that names the key %s', async (_name, spell) => {
    const root = await createSubOrganization(parent, 'Org');
    const user = await createUser(root, 'User');
    const { walletId } = await root.run('create_wallet', { walletName: 'Wallet', accounts: [] });
    const [trusted, barred] = [newKeyPair().publicKey, newKeyPair().publicKey];
    const policy = (policyName: string, effect: string, publicKey: string) =>
      root.run('create_policy', {
        policyName,
        effect,
        condition: `activity.resource == 'WALLET' && activity.action == 'EXPORT' && activity.params.target_public_key ${effect === 'EFFECT_ALLOW' ? '!=' : '=='} '${publicKey}'`,
        consensus: `approvers.any(user, user.id == '${user.userId}')`,
        notes: '',
      });
    await policy('All but one', 'EFFECT_ALLOW', spell(barred));
    for (const [, other] of SPELLINGS) {
      const exports = (publicKey: string) =>
        user.submit('export_wallet', { walletId, targetPublicKey: other(publicKey) });
      expect(outcome(await exports(trusted))).toEqual(DONE);
      expect(outcome(await exports(barred))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    }
  });
});
