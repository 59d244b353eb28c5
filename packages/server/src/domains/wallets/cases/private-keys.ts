import { randomBytes, randomUUID } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { expect } from 'vitest';
import {
  keyParams,
  newKeyImport,
  newKeyTag,
  newPrivateKey,
  opensTo,
  RECEIVER,
} from '../../../../test/fixtures/keys.ts';
import { encryptTo, newImportTarget, Receiver } from '../../../../test/harness/bundles.ts';
import type { TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  anEthereumAddress,
  anId,
  EMPTY_PAGE,
  gone,
  notFound,
  TIMESTAMP,
  withId,
} from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import { initImport, isKeyOf } from './shared.ts';

const privateKeys = async (reader: TestClient) => (await reader.query('list_private_keys')).body.privateKeys;

const keyTags = async (reader: TestClient) => (await reader.query('list_private_key_tags')).body.privateKeyTags;

async function tagsOf(reader: TestClient, privateKeyId: string): Promise<string[]> {
  return (await reader.query('get_private_key', { privateKeyId })).body.privateKey.privateKeyTags;
}

const PRIVATE_KEY = {
  privateKeyId: anId,
  publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
  privateKeyName: expect.stringMatching(/^Key /),
  curve: 'CURVE_SECP256K1',
  addresses: [
    { format: 'ADDRESS_FORMAT_ETHEREUM', address: anEthereumAddress },
    { format: 'ADDRESS_FORMAT_COMPRESSED', address: expect.stringMatching(/^0[23][0-9a-f]{64}$/) },
  ],
  privateKeyTags: [],
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  exported: false,
  imported: false,
};

export const privateKeyCases: DomainCases = {
  create_private_keys: {
    activity: {
      intentKey: 'createPrivateKeysIntentV2',
      resultKey: 'createPrivateKeysResultV2',
      arrange: async ({ root }) => {
        const tagId = await newKeyTag(root);
        const addresses = [
          { format: 'ADDRESS_FORMAT_ETHEREUM', address: anEthereumAddress },
          { format: 'ADDRESS_FORMAT_COMPRESSED', address: expect.stringMatching(/^0[23][0-9a-f]{64}$/) },
        ];
        const key = { privateKeyName: 'New', curve: 'CURVE_SECP256K1', privateKeyTags: [tagId] };
        return {
          parameters: { privateKeys: [{ ...key, addressFormats: addresses.map(({ format }) => format) }] },
          result: { privateKeys: [{ privateKeyId: anId, addresses }] },
          holds: async (reader) => {
            const [found, ...more] = await privateKeys(reader);
            expect(more).toEqual([]);
            expect(found).toEqual({
              ...key,
              privateKeyId: anId,
              publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
              addresses: expect.any(Array),
              exported: false,
              imported: false,
              createdAt: TIMESTAMP,
              updatedAt: TIMESTAMP,
            });
            expect(found.addresses).toEqual(addresses);
          },
          absent: async (reader) => expect(await privateKeys(reader)).toEqual([]),
        };
      },
      legacy: {
        ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: {
          intentKey: 'createPrivateKeysIntent',
          resultKey: 'createPrivateKeysResult',
          arrange: async () => ({
            parameters: {
              privateKeys: [{ privateKeyName: 'Old', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }],
            },
            result: { privateKeyIds: [anId] },
            holds: async (reader) => expect(await privateKeys(reader)).toMatchObject([{ privateKeyName: 'Old' }]),
            absent: async (reader) => expect(await privateKeys(reader)).toEqual([]),
          }),
        },
      },
      foreign: async (_world, other) => {
        const key = { privateKeyName: 'x', curve: 'CURVE_P256', privateKeyTags: [await newKeyTag(other.root)] };
        return notFound({ privateKeys: [{ ...key, addressFormats: [] }] });
      },
    },
    hostile: byRoot((tenant) => ({ privateKeys: [keyParams(fresh(tenant), [tenant.ids.keyTag])] })),
  },
  delete_private_keys: {
    activity: {
      intentKey: 'deletePrivateKeysIntent',
      resultKey: 'deletePrivateKeysResult',
      arrange: async ({ root }) => {
        const { privateKeyId } = await newPrivateKey(root);
        return {
          parameters: { privateKeyIds: [privateKeyId], deleteWithoutExport: true },
          result: { privateKeyIds: [privateKeyId] },
          ...gone('get_private_key', { privateKeyId }),
        };
      },
      foreign: async ({ root }, other) => {
        const privateKeyIds = [
          (await newPrivateKey(root)).privateKeyId,
          (await newPrivateKey(other.root)).privateKeyId,
        ];
        return notFound({ privateKeyIds, deleteWithoutExport: true });
      },
    },
    hostile: byRoot(async (tenant) => ({
      privateKeyIds: [(await newPrivateKey(tenant.root, fresh(tenant))).privateKeyId],
      deleteWithoutExport: true,
    })),
  },
  export_private_key: {
    activity: {
      intentKey: 'exportPrivateKeyIntent',
      resultKey: 'exportPrivateKeyResult',
      arrange: async ({ root }) => {
        const { privateKeyId } = await newPrivateKey(root);
        const [{ publicKey }] = await privateKeys(root);
        const receiver = new Receiver();
        const exported = async (reader: TestClient) => (await privateKeys(reader))[0].exported;
        return {
          parameters: { privateKeyId, targetPublicKey: receiver.publicKey },
          result: { privateKeyId, exportBundle: opensTo(receiver, root, isKeyOf(publicKey)) },
          holds: async (reader) => expect(await exported(reader)).toBe(true),
          absent: async (reader) => expect(await exported(reader)).toBe(false),
        };
      },
      foreign: async (_world, other) => {
        const { privateKeyId } = await newPrivateKey(other.root);
        return notFound({ privateKeyId, targetPublicKey: new Receiver().publicKey });
      },
    },
    hostile: byRoot((tenant) => ({
      privateKeyId: tenant.ids.privateKey,
      targetPublicKey: RECEIVER.publicKey,
    })),
  },
  init_import_private_key: {
    activity: initImport('private_key', 'PrivateKey'),
    hostile: byRoot((tenant) => ({ userId: tenant.root.userId })),
  },
  import_private_key: {
    activity: {
      isForProposer: true,
      intentKey: 'importPrivateKeyIntent',
      resultKey: 'importPrivateKeyResult',
      arrange: async ({ root }) => {
        const key = secp256k1.utils.randomSecretKey();
        const publicKey = Buffer.from(secp256k1.getPublicKey(key)).toString('hex');
        const addresses = [{ format: 'ADDRESS_FORMAT_COMPRESSED', address: publicKey }];
        return {
          parameters: {
            userId: root.userId,
            privateKeyName: 'Imported',
            encryptedBundle: encryptTo(await newImportTarget(root, 'private_key'), key),
            curve: 'CURVE_SECP256K1',
            addressFormats: ['ADDRESS_FORMAT_COMPRESSED'],
          },
          result: { privateKeyId: anId, addresses },
          holds: async (reader) =>
            expect(await privateKeys(reader)).toMatchObject([
              { privateKeyName: 'Imported', publicKey, addresses, exported: false, imported: true },
            ]),
          absent: async (reader) => expect(await privateKeys(reader)).toEqual([]),
        };
      },
      foreign: async ({ root }, other) => {
        const encryptedBundle = encryptTo(await newImportTarget(root, 'private_key'), randomBytes(32));
        const key = { privateKeyName: 'x', curve: 'CURVE_ED25519', addressFormats: [] };
        const parameters = { userId: other.root.userId, encryptedBundle, ...key };
        return { parameters, status: 403, code: 'REQUEST_NOT_AUTHORIZED' };
      },
    },
    hostile: byRoot((tenant) => newKeyImport(tenant.root, fresh(tenant))),
  },
  create_private_key_tag: {
    activity: {
      intentKey: 'createPrivateKeyTagIntent',
      resultKey: 'createPrivateKeyTagResult',
      arrange: async ({ root }) => {
        const { privateKeyId } = await newPrivateKey(root);
        return {
          parameters: { privateKeyTagName: 'New', privateKeyIds: [privateKeyId] },
          result: { privateKeyTagId: anId, privateKeyIds: [privateKeyId] },
          holds: async (reader) => {
            const [tag] = await keyTags(reader);
            const shape = { tagId: anId, tagName: 'New', tagType: 'TAG_TYPE_PRIVATE_KEY' };
            expect(tag).toEqual({ ...shape, createdAt: TIMESTAMP, updatedAt: TIMESTAMP });
            expect(await tagsOf(reader, privateKeyId)).toEqual([tag.tagId]);
          },
          absent: async (reader) => expect(await keyTags(reader)).toEqual([]),
        };
      },
      foreign: async ({ root }, other) =>
        notFound({
          privateKeyTagName: 'x',
          privateKeyIds: [(await newPrivateKey(root)).privateKeyId, (await newPrivateKey(other.root)).privateKeyId],
        }),
    },
    hostile: byRoot((tenant) => ({
      privateKeyTagName: fresh(tenant),
      privateKeyIds: [tenant.ids.privateKey],
    })),
  },
  update_private_key_tag: {
    activity: {
      intentKey: 'updatePrivateKeyTagIntent',
      resultKey: 'updatePrivateKeyTagResult',
      arrange: async ({ root }) => {
        const [before, after] = [(await newPrivateKey(root)).privateKeyId, (await newPrivateKey(root)).privateKeyId];
        const privateKeyTagId = await newKeyTag(root, 'Tag', [before]);
        return {
          parameters: {
            privateKeyTagId,
            newPrivateKeyTagName: 'New',
            addPrivateKeyIds: [after],
            removePrivateKeyIds: [before],
          },
          result: { privateKeyTagId },
          holds: async (reader) => {
            expect((await keyTags(reader))[0].tagName).toBe('New');
            expect(await tagsOf(reader, before)).toEqual([]);
            expect(await tagsOf(reader, after)).toEqual([privateKeyTagId]);
          },
          absent: async (reader) => {
            expect((await keyTags(reader))[0].tagName).not.toBe('New');
            expect(await tagsOf(reader, before)).toEqual([privateKeyTagId]);
          },
        };
      },
      foreign: async ({ root }, other) => {
        // A tag of users is not one of private keys.
        const { userTagId } = await root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
        const none = { addPrivateKeyIds: [], removePrivateKeyIds: [] };
        expect((await root.submit('update_private_key_tag', { privateKeyTagId: userTagId, ...none })).status).toBe(404);
        const addPrivateKeyIds = [(await newPrivateKey(other.root)).privateKeyId];
        return notFound({ ...none, privateKeyTagId: await newKeyTag(root), addPrivateKeyIds });
      },
    },
    hostile: byRoot(async (tenant) => ({
      privateKeyTagId: await newKeyTag(tenant.root, fresh(tenant)),
      newPrivateKeyTagName: fresh(tenant),
      addPrivateKeyIds: [tenant.ids.privateKey],
      removePrivateKeyIds: [tenant.ids.privateKey],
    })),
  },
  delete_private_key_tags: {
    activity: {
      intentKey: 'deletePrivateKeyTagsIntent',
      resultKey: 'deletePrivateKeyTagsResult',
      arrange: async ({ root }) => {
        const { privateKeyId } = await newPrivateKey(root);
        const privateKeyTagId = await newKeyTag(root, 'Tag', [privateKeyId]);
        return {
          parameters: { privateKeyTagIds: [privateKeyTagId] },
          result: { privateKeyTagIds: [privateKeyTagId], privateKeyIds: [privateKeyId] },
          holds: async (reader) => {
            expect(await keyTags(reader)).toEqual([]);
            expect(await tagsOf(reader, privateKeyId)).toEqual([]);
          },
          absent: async (reader) => expect(await tagsOf(reader, privateKeyId)).toEqual([privateKeyTagId]),
        };
      },
      foreign: async ({ root }, other) =>
        notFound({ privateKeyTagIds: [await newKeyTag(root), await newKeyTag(other.root)] }),
    },
    hostile: byRoot(async (tenant) => ({
      privateKeyTagIds: [await newKeyTag(tenant.root, fresh(tenant))],
    })),
  },
  get_private_key: {
    query: {
      parameters: withId('privateKeyId', async ({ root }) => (await newPrivateKey(root)).privateKeyId),
      answer: () => ({ privateKey: PRIVATE_KEY }),
    },
    hostile: byRoot((tenant) => ({ privateKeyId: tenant.ids.privateKey })),
  },
  list_private_keys: {
    query: { answer: () => ({ privateKeys: [], pageInfo: EMPTY_PAGE }) },
    hostile: byRoot(() => ({})),
  },
  list_private_key_tags: {
    query: { answer: () => ({ privateKeyTags: [], pageInfo: EMPTY_PAGE }) },
    hostile: byRoot(() => ({})),
  },
};
