import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey, passkeyStamp } from '../../fixtures/passkey.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { newKeyPair, TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { Caller, COMPLETED, outcome } from '../fixtures/access.ts';

const TYPE = 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION';

const oldRootUser = (publicKey = newKeyPair().publicKey) => ({
  userName: 'Root',
  userEmail: 'root@example.com',
  apiKeys: [{ apiKeyName: 'key', publicKey }],
  authenticators: [],
});
const privateKey = (extra: Record<string, unknown> = {}) => ({
  privateKeyName: 'Signer',
  curve: 'CURVE_SECP256K1',
  privateKeyTags: [],
  addressFormats: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_COMPRESSED'],
  ...extra,
});

describe.each(databasesOf(import.meta.url))('the first versions of create_sub_organization on %s', (database) => {
  let app: TestApp;
  let root: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database);
    root = app.root;
  });
  afterAll(async () => await app[Symbol.asyncDispose]());

  const create = (version: string, parameters: object) =>
    root.submit('create_sub_organization', parameters, { type: `${TYPE}${version}` });

  test('the first makes one root user with the passkey, who can act', async () => {
    const name = `First ${randomUUID()}`;
    const { passkey, registration } = newPasskey('Laptop');
    const answer = await create('', { name, rootAuthenticator: registration });
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const { activity } = answer.body;
    expect(activity.type).toBe(TYPE);
    expect(activity.intent).toEqual({ createSubOrganizationIntent: { name, rootAuthenticator: registration } });
    const result = activity.result.createSubOrganizationResult;
    expect(result).toEqual({ subOrganizationId: expect.any(String), rootUserIds: [expect.any(String)] });
    const child = new TestClient(root.baseUrl, result.subOrganizationId, root.key, result.rootUserIds[0]);
    const owner = new Caller(child, { stamp: (body) => ({ 'x-stamp-webauthn': passkeyStamp(body, passkey) }) });
    const whoami = await owner.query('whoami');
    expect(whoami.body).toMatchObject({ organizationName: name, userId: result.rootUserIds[0], username: 'Root user' });
    expect(outcome(await owner.submit('create_user_tag', { userTagName: 't', userIds: [] }))).toEqual([200, COMPLETED]);
  });

  test('the second makes root users with keys on P-256', async () => {
    const key = newKeyPair();
    const parameters = {
      subOrganizationName: 'Second',
      rootQuorumThreshold: 1,
      rootUsers: [oldRootUser(key.publicKey)],
    };
    const answer = await create('_V2', parameters);
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    expect(answer.body.activity.intent).toEqual({ createSubOrganizationIntentV2: parameters });
    const result = answer.body.activity.result.createSubOrganizationResult;
    expect(Object.keys(result).sort()).toEqual(['rootUserIds', 'subOrganizationId']);
    const child = new TestClient(root.baseUrl, result.subOrganizationId, key);
    expect((await child.query('whoami')).body).toMatchObject({ organizationName: 'Second', username: 'Root' });
  });

  test('the third makes private keys too, which sign', async () => {
    const key = newKeyPair();
    const answer = await create('_V3', {
      subOrganizationName: 'Third',
      rootQuorumThreshold: 1,
      rootUsers: [oldRootUser(key.publicKey)],
      privateKeys: [privateKey(), privateKey({ privateKeyName: 'Other', curve: 'CURVE_ED25519', addressFormats: [] })],
    });
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const result = answer.body.activity.result.createSubOrganizationResultV3;
    expect(result.rootUserIds).toHaveLength(1);
    expect(result.wallet).toBeUndefined();
    const child = new TestClient(root.baseUrl, result.subOrganizationId, key);
    const { privateKeys } = (await child.query('list_private_keys')).body;
    expect(privateKeys.map((one: { privateKeyName: string }) => one.privateKeyName).sort()).toEqual([
      'Other',
      'Signer',
    ]);
    expect(result.privateKeys[0].addresses.map(({ format }: { format: string }) => format)).toEqual([
      'ADDRESS_FORMAT_ETHEREUM',
      'ADDRESS_FORMAT_COMPRESSED',
    ]);
    const signed = await child.submit('sign_raw_payload', {
      signWith: result.privateKeys[0].addresses[0].address,
      payload: 'ab'.repeat(32),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });
    expect(outcome(signed)).toEqual([200, COMPLETED]);
    // The parent's own keys stay its own.
    expect((await root.query('list_private_keys')).body.privateKeys).toEqual([]);
  });

  test('private keys of no list, with tags or with a format of another curve say which field is wrong', async () => {
    const common = { subOrganizationName: 'Wrong', rootQuorumThreshold: 1, rootUsers: [oldRootUser()] };
    const tagged = await create('_V3', { ...common, privateKeys: [privateKey({ privateKeyTags: [randomUUID()] })] });
    expect(outcome(tagged)).toEqual([400, 'REQUEST_INVALID']);
    expect(tagged.body.message).toBe(
      'parameters.privateKeys.0.privateKeyTags: must be empty: the new sub-organization has no tags yet',
    );
    const onOtherCurve = await create('_V3', { ...common, privateKeys: [privateKey({ curve: 'CURVE_ED25519' })] });
    expect(outcome(onOtherCurve)).toEqual([400, 'INVALID_ADDRESS_FORMAT']);
    expect(onOtherCurve.body.message).toContain('parameters.privateKeys.0.addressFormats');
    const missing = await create('_V3', common);
    expect(outcome(missing)).toEqual([400, 'REQUEST_INVALID']);
    expect(missing.body.message).toContain('parameters.privateKeys');
  });
});
