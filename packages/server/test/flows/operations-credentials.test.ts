import { createECDH, randomUUID } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';

const TEN_YEARS = 10 * 365 * 24 * 60 * 60;
const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity.status];
const DONE = [200, 'ACTIVITY_STATUS_COMPLETED'];
const EXISTS = [409, 'ALREADY_EXISTS'];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const NO_QUORUM = [400, 'INVALID_QUORUM'];

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const key = (extra: Record<string, unknown> = {}) => ({
  apiKeyName: `key ${randomUUID()}`,
  publicKey: newKeyPair().publicKey,
  curveType: 'API_KEY_CURVE_P256',
  ...extra,
});

describe.each(databasesOf(import.meta.url))('API keys on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());
  beforeEach(async () => {
    root = await createSubOrganization(parent, `Org ${randomUUID()}`);
  });

  const add = (client: TestClient, userId: string, ...apiKeys: Record<string, unknown>[]) =>
    client.submit('create_api_keys', { userId, apiKeys });
  const keysOf = async (userId: string) => (await root.query('get_api_keys', { userId })).body.apiKeys;
  const keyIds = async (userId: string): Promise<string[]> =>
    (await keysOf(userId)).map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId);
  const addedId = (answer: Answer): string => answer.body.activity.result.createApiKeysResult.apiKeyIds[0];

  test('each curve has its own type, and each spelling of a key is one key', async () => {
    const { userId } = await createUser(root, 'Owner');
    const ecdh = createECDH('prime256v1');
    const compressed = ecdh.generateKeys('hex', 'compressed');
    const uncompressed = ecdh.getPublicKey('hex', 'uncompressed');
    const secp = secp256k1.getPublicKey(secp256k1.utils.randomSecretKey());
    const ed = ed25519.getPublicKey(ed25519.utils.randomSecretKey());
    const answer = await add(
      root,
      userId,
      key({ apiKeyName: 'p256', publicKey: uncompressed.toUpperCase() }),
      key({ apiKeyName: 'k1', publicKey: hex(secp), curveType: 'API_KEY_CURVE_SECP256K1' }),
      key({ apiKeyName: 'ed', publicKey: hex(ed), curveType: 'API_KEY_CURVE_ED25519' }),
    );
    expect(outcome(answer)).toEqual(DONE);
    const keys = (await keysOf(userId)).slice(1);
    expect(keys.map((item: Answer['body']) => [item.apiKeyName, item.credential])).toEqual([
      ['p256', { publicKey: compressed, type: 'CREDENTIAL_TYPE_API_KEY_P256' }],
      ['k1', { publicKey: hex(secp), type: 'CREDENTIAL_TYPE_API_KEY_SECP256K1' }],
      ['ed', { publicKey: hex(ed), type: 'CREDENTIAL_TYPE_API_KEY_ED25519' }],
    ]);
    // Without an expiry the field is absent.
    expect(keys.some((item: object) => 'expirationSeconds' in item)).toBe(false);
    expect(outcome(await add(root, userId, key({ publicKey: compressed })))).toEqual(EXISTS);
    expect((await add(root, userId, key({ publicKey: compressed }), key({ publicKey: uncompressed }))).status).toBe(
      400,
    );
  });

  test.each([
    ['nothing', ''],
    ['no hex', 'zz'],
    ['half a byte', `${newKeyPair().publicKey}0`],
    ['a point that is not on the curve', `02${'ff'.repeat(32)}`],
    ['the point at infinity', '00'],
    ['a key of another curve', hex(ed25519.getPublicKey(ed25519.utils.randomSecretKey()))],
    ['the 0x prefix', `0x${newKeyPair().publicKey}`],
  ])('%s is no P-256 key', async (_what, publicKey) => {
    const answer = await add(root, root.userId, key({ publicKey }));
    expect(outcome(answer)).toEqual([400, 'INVALID_PUBLIC_KEY']);
    expect(JSON.stringify(answer.body.details)).toContain('parameters.apiKeys.0.publicKey');
  });

  test('a public key is unique in an organization and may repeat elsewhere', async () => {
    const shared = newKeyPair().publicKey;
    const owner = await createUser(root, 'Owner');
    expect(outcome(await add(root, owner.userId, key({ publicKey: shared })))).toEqual(DONE);
    expect(outcome(await add(root, root.userId, key({ publicKey: shared })))).toEqual(EXISTS);
    expect(outcome(await add(root, root.userId, key({ publicKey: root.key.publicKey })))).toEqual(EXISTS);
    const other = await createSubOrganization(parent, 'Other');
    expect(outcome(await add(other, other.userId, key({ publicKey: shared })))).toEqual(DONE);
    expect(outcome(await add(parent, parent.userId, key({ publicKey: shared })))).toEqual(DONE);
    // Free again once deleted.
    await root.run('delete_api_keys', { userId: owner.userId, apiKeyIds: [(await keyIds(owner.userId))[1]] });
    expect(outcome(await add(root, root.userId, key({ publicKey: shared })))).toEqual(DONE);
  });

  test('names are unique per user, exact and case-sensitive', async () => {
    const owner = await createUser(root, 'Owner');
    expect(outcome(await add(root, owner.userId, key({ apiKeyName: 'Laptop' })))).toEqual(DONE);
    expect(outcome(await add(root, owner.userId, key({ apiKeyName: 'Laptop' })))).toEqual(EXISTS);
    expect(outcome(await add(root, owner.userId, key({ apiKeyName: 'laptop' })))).toEqual(DONE);
    expect(outcome(await add(root, root.userId, key({ apiKeyName: 'Laptop' })))).toEqual(DONE);
  });

  test.each(['0', '-1', '1.5', 'soon', '', '9999999999999', String(TEN_YEARS + 1)])(
    'expirationSeconds %j is refused',
    async (expirationSeconds) =>
      expect(outcome(await add(root, root.userId, key({ expirationSeconds })))).toEqual([
        400,
        'INVALID_API_KEY_EXPIRATION',
      ]),
  );

  test.each(['1', String(TEN_YEARS), 3600])('expirationSeconds %j is kept as text', async (expirationSeconds) => {
    const { userId } = await createUser(root, 'Owner');
    expect(outcome(await add(root, userId, key({ expirationSeconds })))).toEqual(DONE);
    expect((await keysOf(userId))[1].expirationSeconds).toBe(String(expirationSeconds));
  });

  test('the eleventh expiring key replaces the oldest, lasting keys are not touched', async () => {
    const { userId } = await createUser(root, 'Owner');
    const [lasting] = await keyIds(userId);
    const made: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      made.push(addedId(await add(root, userId, key({ expirationSeconds: '3600' }))));
    }
    expect(await keyIds(userId)).toEqual([lasting, ...made]);
    // A lasting one evicts nothing.
    const alsoLasting = addedId(await add(root, userId, key()));
    expect(await keyIds(userId)).toHaveLength(12);
    const eleventh = addedId(await add(root, userId, key({ expirationSeconds: '3600' })));
    expect(await keyIds(userId)).toEqual([lasting, ...made.slice(1), alsoLasting, eleventh]);
    // Two at once replace the next two.
    const two = await add(root, userId, key({ expirationSeconds: '60' }), key({ expirationSeconds: '60' }));
    const { apiKeyIds } = two.body.activity.result.createApiKeysResult;
    expect(await keyIds(userId)).toEqual([lasting, ...made.slice(3), alsoLasting, eleventh, ...apiKeyIds]);
    expect((await root.query('get_api_key', { apiKeyId: made[0] })).status).toBe(404);
    const eleven = Array.from({ length: 11 }, () => key({ expirationSeconds: '60' }));
    expect(outcome(await add(root, userId, ...eleven))).toEqual([429, 'RESOURCE_LIMIT_EXCEEDED']);
    expect(await keyIds(userId)).toHaveLength(12);
  });

  test('an evicted key no longer authenticates and its value is free', async () => {
    const owner = await createUser(root, 'Owner');
    const first = newKeyPair();
    await add(root, owner.userId, key({ publicKey: first.publicKey, expirationSeconds: '3600' }));
    expect((await root.as(first).query('whoami')).body.userId).toBe(owner.userId);
    for (let index = 0; index < 10; index += 1) await add(root, owner.userId, key({ expirationSeconds: '3600' }));
    expect((await root.as(first).query('whoami')).status).toBe(401);
    expect(outcome(await add(root, owner.userId, key({ publicKey: first.publicKey })))).toEqual(DONE);
  });

  describe('own credentials', () => {
    test('a user without rights adds and deletes its own keys, and nobody else’s', async () => {
      const user = await createUser(root, 'User');
      const other = await createUser(root, 'Other');
      const added = await add(user, user.userId, key());
      expect(outcome(added)).toEqual(DONE);
      expect(outcome(await add(user, other.userId, key()))).toEqual(DENIED);
      expect(outcome(await add(user, randomUUID(), key()))).toEqual(DENIED);
      const ids = await keyIds(user.userId);
      expect(ids).toContain(addedId(added));
      const theirs = await keyIds(other.userId);
      const remove = (userId: string, apiKeyIds: string[]) => user.submit('delete_api_keys', { userId, apiKeyIds });
      expect(outcome(await remove(other.userId, theirs))).toEqual(DENIED);
      // Its own name with another's key is not a way around.
      expect(outcome(await remove(user.userId, theirs))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await remove(user.userId, [addedId(added)]))).toEqual(DONE);
      expect(await keyIds(other.userId)).toEqual(theirs);
    });

    test('a request may delete the very key that stamped it, also the last one of a plain user', async () => {
      const user = await createUser(root, 'User');
      const [own] = await keyIds(user.userId);
      expect(outcome(await user.submit('delete_api_keys', { userId: user.userId, apiKeyIds: [own] }))).toEqual(DONE);
      expect((await user.query('whoami')).body.errorCode).toBe('PUBLIC_KEY_NOT_FOUND');
      expect(await keyIds(user.userId)).toEqual([]);
    });

    test('it is not a way to the rest', async () => {
      const user = await createUser(root, 'User');
      const rename = { userId: user.userId, userName: 'Me' };
      expect(outcome(await user.submit('update_user_name', rename))).toEqual(DENIED);
      expect(outcome(await user.submit('update_user', rename))).toEqual(DENIED);
      expect(outcome(await user.submit('delete_users', { userIds: [user.userId] }))).toEqual(DENIED);
    });
  });

  describe('the root quorum keeps a way in', () => {
    test('the only root user cannot delete its last usable key', async () => {
      const remove = (apiKeyIds: string[]) => root.submit('delete_api_keys', { userId: root.userId, apiKeyIds });
      const [only] = await keyIds(root.userId);
      expect(outcome(await remove([only as string]))).toEqual(NO_QUORUM);
      const second = addedId(await add(root, root.userId, key()));
      expect(outcome(await remove([only as string, second]))).toEqual(NO_QUORUM);
      expect(await keyIds(root.userId)).toEqual([only, second]);
      expect(outcome(await remove([second]))).toEqual(DONE);
    });

    test('a member’s last key may go while enough others can act', async () => {
      const second = await createUser(root, 'Second');
      await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId, second.userId] });
      const mine = await keyIds(second.userId);
      expect(outcome(await second.submit('delete_api_keys', { userId: second.userId, apiKeyIds: mine }))).toEqual(DONE);
      const last = await keyIds(root.userId);
      expect(outcome(await root.submit('delete_api_keys', { userId: root.userId, apiKeyIds: last }))).toEqual(
        NO_QUORUM,
      );
    });

    test('a threshold of two needs two with a key, unless the whole quorum agrees', async () => {
      const second = await createUser(root, 'Second');
      const spare = await keyIds(second.userId);
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const parameters = { userId: second.userId, apiKeyIds: spare };
      // Its own key, alone: allowed as own credentials, refused as a lock-out.
      expect(outcome(await second.submit('delete_api_keys', parameters))).toEqual(NO_QUORUM);
      const proposed = await root.submit('delete_api_keys', parameters);
      const { fingerprint, status } = proposed.body.activity;
      expect(status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect(outcome(await second.submit('approve_activity', { fingerprint }))).toEqual(DONE);
      expect(await keyIds(second.userId)).toEqual([]);
    });
  });

  test('deletion is all or nothing', async () => {
    const owner = await createUser(root, 'Owner');
    const ids = await keyIds(owner.userId);
    const parameters = { userId: owner.userId, apiKeyIds: [...ids, randomUUID()] };
    expect(outcome(await root.submit('delete_api_keys', parameters))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(await keyIds(owner.userId)).toEqual(ids);
    expect(await root.run('delete_api_keys', { userId: owner.userId, apiKeyIds: [...ids, ...ids] })).toEqual({
      apiKeyIds: ids,
    });
  });

  test('get_api_keys without a user lists the organization', async () => {
    const owner = await createUser(root, 'Owner');
    const all = (await root.query('get_api_keys')).body.apiKeys;
    expect(all.map(({ credential }: { credential: { publicKey: string } }) => credential.publicKey)).toEqual([
      root.key.publicKey,
      owner.key.publicKey,
    ]);
    expect((await root.query('get_api_keys', { userId: null })).body.apiKeys).toHaveLength(2);
    expect((await root.query('get_api_keys', { userId: randomUUID() })).status).toBe(404);
  });

  test('a new key of a sub-organization is found by its parent', async () => {
    const added = key();
    await add(root, root.userId, added);
    const found = await parent.query('list_suborgs', {
      filterType: 'PUBLIC_KEY',
      filterValue: added.publicKey.toUpperCase(),
    });
    expect(found.body.organizationIds).toEqual([root.organizationId]);
  });
});

describe.each(databasesOf(import.meta.url))('API keys and time on %s', (database) => {
  const add = async (client: TestClient, extra: Record<string, unknown>): Promise<string> =>
    (await client.run('create_api_keys', { userId: client.userId, apiKeys: [key(extra)] })).apiKeyIds[0];

  test('an expired key is evicted before an older one that still works', async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const made: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      // The fifth and the eighth live for a minute, the others for a day.
      made.push(await add(root, { expirationSeconds: index === 4 || index === 7 ? '60' : '86400' }));
    }
    app.advance(61_000);
    const list = async () =>
      (await root.query('get_api_keys')).body.apiKeys.slice(1).map((item: { apiKeyId: string }) => item.apiKeyId);
    // Expired keys stay visible until they make room.
    expect(await list()).toEqual(made);
    const eleventh = await add(root, { expirationSeconds: '86400' });
    expect(await list()).toEqual([...made.filter((_id, index) => index !== 4), eleventh]);
    const twelfth = await add(root, { expirationSeconds: '86400' });
    const left = made.filter((_id, index) => index !== 4 && index !== 7);
    expect(await list()).toEqual([...left, eleventh, twelfth]);
    const thirteenth = await add(root, { expirationSeconds: '86400' });
    expect(await list()).toEqual([...left.slice(1), eleventh, twelfth, thirteenth]);
  });

  test('an expired key is no way in for the root quorum, one that lasts is', async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const [{ apiKeyId: lasting }] = (await root.query('get_api_keys')).body.apiKeys;
    const remove = () => root.submit('delete_api_keys', { userId: root.userId, apiKeyIds: [lasting] });
    await add(root, { expirationSeconds: '60' });
    app.advance(60_000);
    expect(outcome(await remove())).toEqual(NO_QUORUM);
    await add(root, { expirationSeconds: '60' });
    expect(outcome(await remove())).toEqual(NO_QUORUM);
    await add(root, { expirationSeconds: '2678400' });
    expect(outcome(await remove())).toEqual(DONE);
  });
});
