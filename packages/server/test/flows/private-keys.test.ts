import { randomUUID } from 'node:crypto';
import { ADDRESS_FORMATS } from '@custos/keyring';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ADDRESS_VECTORS, aName, COMPLETED, importKey, outcome } from './fixtures/wallets.ts';

const curveOf = (format: string) => ADDRESS_VECTORS.find(({ addressFormat }) => addressFormat === format)?.curve;
const plainName = (format: string) => format.replace('ADDRESS_FORMAT_', '');

describe.each(databasesOf(import.meta.url))('private keys on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    root = await createSubOrganization(parent, 'Keys');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const params = (extra: Record<string, unknown> = {}) => ({
    privateKeyName: aName('key'),
    curve: 'CURVE_SECP256K1',
    privateKeyTags: [],
    addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    ...extra,
  });
  const create = (...keys: ReturnType<typeof params>[]) => root.submit('create_private_keys', { privateKeys: keys });
  const made = async (...keys: ReturnType<typeof params>[]) =>
    (await root.run('create_private_keys', { privateKeys: keys })).privateKeys;
  const keyOf = async (privateKeyId: string) => (await root.query('get_private_key', { privateKeyId })).body.privateKey;
  const exported = async (privateKeyId: string): Promise<string> => {
    const receiver = new Receiver();
    const { exportBundle } = await root.run('export_private_key', {
      privateKeyId,
      targetPublicKey: receiver.publicKey,
    });
    return receiver.open(exportBundle, root.organizationId).toString('hex');
  };

  test('of every curve in every format, and the same addresses when they are imported', async () => {
    for (const curve of ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256']) {
      const formats =
        curve === 'CURVE_P256'
          ? ['ADDRESS_FORMAT_COMPRESSED', 'ADDRESS_FORMAT_UNCOMPRESSED']
          : ADDRESS_FORMATS.filter((format) => curveOf(format) === curve);
      expect(formats.length).toBeGreaterThan(1);
      const [key] = await made(params({ curve, addressFormats: formats }));
      expect(key.addresses.map(({ format }: { format: string }) => format)).toEqual(formats);
      const secret = await exported(key.privateKeyId);
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      const imported = await importKey(root, curve.slice(6), secret, formats.map(plainName));
      expect(imported.addresses).toEqual(key.addresses);
      const [stored, again] = [await keyOf(key.privateKeyId), await keyOf(imported.privateKeyId)];
      expect(again.publicKey).toBe(stored.publicKey);
      expect(stored.publicKey).toMatch(curve === 'CURVE_ED25519' ? /^[0-9a-f]{64}$/ : /^0[23][0-9a-f]{64}$/);
      expect([stored.exported, stored.imported, again.exported, again.imported]).toEqual([true, false, false, true]);
    }
  });

  test('the keys of the published vectors have the published addresses', async () => {
    const vectors = new Map(ADDRESS_VECTORS.map((vector) => [`${vector.curve} ${vector.addressFormat}`, vector]));
    expect(vectors.size).toBeGreaterThanOrEqual(38);
    for (const { curve, addressFormat, privateKeyHex, publicKeyHex, address } of vectors.values()) {
      const key = await importKey(root, curve.slice(6), privateKeyHex, [plainName(addressFormat)]);
      expect(key.addresses).toEqual([{ format: addressFormat, address }]);
      expect((await keyOf(key.privateKeyId)).publicKey).toBe(publicKeyHex);
      expect(await exported(key.privateKeyId)).toBe(privateKeyHex);
    }
  });

  test('have the fields of their record, and may have no address', async () => {
    const { privateKeyTagId } = await root.run('create_private_key_tag', {
      privateKeyTagName: aName('tag'),
      privateKeyIds: [],
    });
    const one = params({ curve: 'CURVE_P256', addressFormats: [], privateKeyTags: [privateKeyTagId, privateKeyTagId] });
    const two = params({ addressFormats: ['ADDRESS_FORMAT_XRP', 'ADDRESS_FORMAT_ETHEREUM'] });
    const keys = await made(one, two);
    expect(keys).toEqual([
      { privateKeyId: expect.any(String), addresses: [] },
      {
        privateKeyId: expect.any(String),
        addresses: [
          { format: 'ADDRESS_FORMAT_XRP', address: expect.stringMatching(/^r/) },
          { format: 'ADDRESS_FORMAT_ETHEREUM', address: expect.stringMatching(/^0x/) },
        ],
      },
    ]);
    const timestamp = { seconds: expect.stringMatching(/^\d{10}$/), nanos: expect.stringMatching(/^\d+$/) };
    expect(await keyOf(keys[0].privateKeyId)).toEqual({
      privateKeyId: keys[0].privateKeyId,
      publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      privateKeyName: one.privateKeyName,
      curve: 'CURVE_P256',
      addresses: [],
      privateKeyTags: [privateKeyTagId],
      createdAt: timestamp,
      updatedAt: timestamp,
      exported: false,
      imported: false,
    });
    const { addresses } = await keyOf(keys[1].privateKeyId);
    expect(new Set(addresses.map(JSON.stringify))).toEqual(new Set(keys[1].addresses.map(JSON.stringify)));
  });

  test('are made all or none, and each name once', async () => {
    const first = params();
    await made(first);
    const other = params();
    for (const [second, expected] of [
      [first, [409, 'ALREADY_EXISTS']],
      [other, [409, 'ALREADY_EXISTS']],
      [params({ privateKeyTags: [randomUUID()] }), [404, 'RESOURCE_NOT_FOUND']],
      [params({ addressFormats: ['ADDRESS_FORMAT_SOLANA'] }), [400, 'INVALID_ADDRESS_FORMAT']],
      [params({ addressFormats: ['ADDRESS_FORMAT_XRP', 'ADDRESS_FORMAT_XRP'] }), [400, 'REQUEST_INVALID']],
      [params({ curve: 'CURVE_X25519' }), [400, 'INVALID_CURVE']],
    ] as const) {
      expect(outcome(await create(other, second))).toEqual(expected);
    }
    expect(outcome(await root.submit('create_private_keys', { privateKeys: [] }))).toEqual([400, 'REQUEST_INVALID']);
    expect(outcome(await create(other))).toEqual([200, COMPLETED]);
  });

  test('by the hundred, each with every format and with tags, in one request', async () => {
    const client = await createSubOrganization(parent, 'Hundreds');
    const tags: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      const tag = { privateKeyTagName: `tag ${made}`, privateKeyIds: [] };
      tags.push((await client.run('create_private_key_tag', tag)).privateKeyTagId);
    }
    const formats = ADDRESS_FORMATS.filter((format) => curveOf(format) === 'CURVE_SECP256K1');
    const privateKeys = Array.from({ length: 230 }, () => params({ privateKeyTags: tags, addressFormats: formats }));
    const { privateKeys: keys } = await client.run('create_private_keys', { privateKeys });
    const listed = (await client.query('list_private_keys')).body.privateKeys;
    expect(listed.map((key: { privateKeyId: string }) => key.privateKeyId)).toEqual(
      keys.map((key: { privateKeyId: string }) => key.privateKeyId),
    );
    expect(listed.every((key: { addresses: []; privateKeyTags: [] }) => key.addresses.length === formats.length)).toBe(
      true,
    );
    expect(listed.every((key: { privateKeyTags: string[] }) => key.privateKeyTags.length === 5)).toBe(true);
    const page = { limit: '3', after: keys[9].privateKeyId };
    const paged = (await client.query('list_private_keys', { paginationOptions: page })).body;
    expect(paged.privateKeys).toEqual(listed.slice(10, 13));
    expect(paged.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const ends = [keys[0].privateKeyId, keys[229].privateKeyId];
    await client.run('delete_private_keys', { privateKeyIds: ends, deleteWithoutExport: true });
    expect((await client.query('list_private_keys')).body.privateKeys).toEqual(listed.slice(1, 229));
  });

  test('the first version answers with ids alone, also when it needed a vote', async () => {
    const type = 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS';
    const answer = await root.submit('create_private_keys', { privateKeys: [params(), params()] }, { type });
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const { privateKeyIds } = answer.body.activity.result.createPrivateKeysResult;
    expect(Object.keys(answer.body.activity.intent)).toEqual(['createPrivateKeysIntent']);
    expect(await Promise.all(privateKeyIds.map(async (id: string) => (await keyOf(id)).privateKeyId))).toEqual(
      privateKeyIds,
    );
  });

  test('a tag goes to keys and from them', async () => {
    const [{ privateKeyId: a }, { privateKeyId: b }] = await made(params(), params());
    const privateKeyTagName = aName('tag');
    const { privateKeyTagId } = await root.run('create_private_key_tag', { privateKeyTagName, privateKeyIds: [a, a] });
    const tagged = async () => [(await keyOf(a)).privateKeyTags, (await keyOf(b)).privateKeyTags];
    expect(await tagged()).toEqual([[privateKeyTagId], []]);
    const newPrivateKeyTagName = aName('renamed');
    const change = { privateKeyTagId, newPrivateKeyTagName, addPrivateKeyIds: [b], removePrivateKeyIds: [a] };
    expect(await root.run('update_private_key_tag', change)).toEqual({ privateKeyTagId });
    expect(await tagged()).toEqual([[], [privateKeyTagId]]);
    const { privateKeyTags } = (await root.query('list_private_key_tags')).body;
    expect(privateKeyTags).toContainEqual({
      tagId: privateKeyTagId,
      tagName: newPrivateKeyTagName,
      tagType: 'TAG_TYPE_PRIVATE_KEY',
      createdAt: expect.any(Object),
      updatedAt: expect.any(Object),
    });
    const taken = { privateKeyTagName: newPrivateKeyTagName, privateKeyIds: [] };
    expect(outcome(await root.submit('create_private_key_tag', taken))).toEqual([409, 'ALREADY_EXISTS']);
    // A tag of users is none of keys, and a user is no key.
    const { userTagId } = await root.run('create_user_tag', { userTagName: aName('users'), userIds: [] });
    for (const [operation, parameters] of [
      ['update_private_key_tag', { ...change, privateKeyTagId: userTagId }],
      ['update_private_key_tag', { ...change, addPrivateKeyIds: [root.userId] }],
      ['delete_private_key_tags', { privateKeyTagIds: [privateKeyTagId, userTagId] }],
      ['create_private_keys', { privateKeys: [params({ privateKeyTags: [userTagId] })] }],
    ] as const) {
      expect(outcome(await root.submit(operation, parameters)), operation).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect(await root.run('delete_private_key_tags', { privateKeyTagIds: [privateKeyTagId] })).toEqual({
      privateKeyTagIds: [privateKeyTagId],
      privateKeyIds: [b],
    });
    expect(await tagged()).toEqual([[], []]);
  });

  describe('deletion', () => {
    test('refuses what was never exported, unless told', async () => {
      const [{ privateKeyId: a }, { privateKeyId: b }] = await made(params(), params());
      await exported(a);
      const attempt = async (privateKeyIds: string[], extra = {}) =>
        outcome(await root.submit('delete_private_keys', { privateKeyIds, ...extra }));
      expect(await attempt([a, b])).toEqual([400, 'WALLET_ACCOUNT_NOT_EXPORTED']);
      expect((await keyOf(a)).exported).toBe(true);
      expect(await root.run('delete_private_keys', { privateKeyIds: [a, a] })).toEqual({ privateKeyIds: [a] });
      expect(await attempt([b, a], { deleteWithoutExport: true })).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect((await keyOf(b)).privateKeyId).toBe(b);
      expect(await attempt([b], { deleteWithoutExport: true })).toEqual([200, COMPLETED]);
      expect(outcome(await root.query('get_private_key', { privateKeyId: b }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    });

    test('frees the name and takes the addresses away', async () => {
      const key = params();
      const [{ privateKeyId, addresses }] = await made(key);
      const sign = async () =>
        outcome(
          await root.submit('sign_raw_payload', {
            signWith: addresses[0].address.toLowerCase(),
            payload: '0x',
            encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
            hashFunction: 'HASH_FUNCTION_KECCAK256',
          }),
        );
      expect(await sign()).toEqual([200, COMPLETED]);
      await root.run('delete_private_keys', { privateKeyIds: [privateKeyId], deleteWithoutExport: true });
      expect(await sign()).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await create(key))).toEqual([200, COMPLETED]);
      const page = { paginationOptions: { after: privateKeyId } };
      expect((await root.query('list_private_keys', page)).body.privateKeys).toHaveLength(1);
    });
  });

  test('nobody else can see, export or delete them', async () => {
    const [{ privateKeyId }] = await made(params());
    const stranger = await createSubOrganization(parent, 'Stranger');
    const plain = await createUser(root, 'plain');
    const targetPublicKey = new Receiver().publicKey;
    expect(outcome(await stranger.query('get_private_key', { privateKeyId }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    for (const [operation, parameters] of [
      ['export_private_key', { privateKeyId, targetPublicKey }],
      ['delete_private_keys', { privateKeyIds: [privateKeyId], deleteWithoutExport: true }],
    ] as const) {
      expect(outcome(await stranger.submit(operation, parameters))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await plain.submit(operation, parameters))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    }
    expect((await keyOf(privateKeyId)).exported).toBe(false);
  });
});
