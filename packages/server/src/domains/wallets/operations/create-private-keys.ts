import Type from 'typebox';
import { listOf, named, say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { listShape } from '../../../lib/shapes.ts';
import { TagReader, TagStore } from '../../users/store/tags.ts';
import { checkPrivateKeys, makePrivateKeys, PrivateKeyParamsShape, toKeyResult } from '../new-private-keys.ts';
import { PrivateKeyResultShape } from '../shapes.ts';
import { PrivateKeyStore } from '../store/private-keys.ts';

export const createPrivateKeys = defineActivity({
  name: 'create_private_keys',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
  resultKey: 'createPrivateKeysResultV2',
  summary: 'Create private keys that stand alone, all or nothing.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'CREATE' },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ privateKeys: listShape(PrivateKeyParamsShape, 1) }),
  older: [
    legacy(
      'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS',
      Type.Object({ privateKeys: listShape(PrivateKeyParamsShape, 1) }),
      (parameters) => parameters,
      {
        // The first version answers with ids alone.
        result: Type.Object({ privateKeyIds: Type.Array(Type.String()) }),
        toResult: ({ privateKeys }: { readonly privateKeys: readonly { readonly privateKeyId: string }[] }) => ({
          privateKeyIds: privateKeys.map((key) => key.privateKeyId),
        }),
      },
    ),
  ],
  sentence: ({ privateKeys }) =>
    say`Create ${privateKeys.length === 1 ? 'private key' : 'private keys'} ${listOf(privateKeys.map(({ privateKeyName }) => named(privateKeyName)))}.`,
  result: Type.Object({ privateKeys: Type.Array(PrivateKeyResultShape) }),
  check: ({ privateKeys }) => checkPrivateKeys(privateKeys, 'parameters.privateKeys'),
  describe: ({ read, actor }, { privateKeys }) =>
    read(TagReader).requireAll(actor.organizationId, 'TAG_TYPE_PRIVATE_KEY', tagsOf(privateKeys)),
  prepare: (context, { privateKeys }) => makePrivateKeys(context, holderOf(context, ''), privateKeys),
  async execute({ store, actor }, { privateKeys }, made) {
    const { organizationId } = actor;
    await store(TagStore).requireAll(organizationId, 'TAG_TYPE_PRIVATE_KEY', tagsOf(privateKeys));
    await store(PrivateKeyStore).insert(organizationId, made);
    return { privateKeys: made.map(toKeyResult) };
  },
});

const tagsOf = (keys: readonly { readonly privateKeyTags: readonly string[] }[]): string[] =>
  keys.flatMap(({ privateKeyTags }) => privateKeyTags);
