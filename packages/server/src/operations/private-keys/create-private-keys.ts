import type { AddressFormat } from '@custos/keyring';
import Type from 'typebox';
import { firstDuplicate } from '../../lib/collections.ts';
import { invalidField } from '../../lib/errors.ts';
import type { PrivateKeyId, TagId } from '../../lib/ids.ts';
import type { Curve, PrivateKey } from '../../lib/model.ts';
import { defineActivity, legacy } from '../define.ts';
import { IdListOrEmptyShape, listShape, NameShape } from '../shapes/basic.ts';
import { AddressFormatShape, CurveShape, PrivateKeyResultShape } from '../shapes/wallets.ts';
import { checkFormat, holderOf } from '../wallets/accounts.ts';

const PrivateKeyParamsShape = Type.Object({
  privateKeyName: NameShape,
  curve: CurveShape,
  privateKeyTags: IdListOrEmptyShape,
  addressFormats: listShape(AddressFormatShape),
});

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
        toResult: ({ privateKeys }: { readonly privateKeys: readonly { readonly privateKeyId: string }[] }) => ({
          privateKeyIds: privateKeys.map((key) => key.privateKeyId),
        }),
      },
    ),
  ],
  result: Type.Object({ privateKeys: Type.Array(PrivateKeyResultShape) }),
  check({ privateKeys }) {
    for (const [index, { curve, addressFormats }] of privateKeys.entries()) {
      const field = `parameters.privateKeys.${index}.addressFormats`;
      for (const format of addressFormats) checkFormat(curve, format, field);
      if (firstDuplicate(addressFormats) !== undefined) throw invalidField(field, 'names a format twice');
    }
  },
  describe: ({ read, actor }, { privateKeys }) =>
    read.tags.requireAll(actor.organizationId, 'TAG_TYPE_PRIVATE_KEY', tagsOf(privateKeys)),
  async prepare(context, { privateKeys }) {
    return await Promise.all(
      privateKeys.map(async ({ curve, addressFormats }) => {
        const id: PrivateKeyId = context.newId();
        const created = await context.keyring.createPrivateKey(
          holderOf(context, id),
          curve as Curve,
          addressFormats as AddressFormat[],
        );
        return { id, ...created };
      }),
    );
  },
  async execute({ store, actor, nowMs }, { privateKeys }, created) {
    const { organizationId } = actor;
    await store.tags.requireAll(organizationId, 'TAG_TYPE_PRIVATE_KEY', tagsOf(privateKeys));
    const keys = created.map(({ id, sealedKey, publicKey, addresses }, index): PrivateKey => {
      const params = privateKeys[index] as (typeof privateKeys)[number];
      return {
        id,
        name: params.privateKeyName,
        curve: params.curve as Curve,
        publicKey,
        sealedKey,
        addresses: params.addressFormats.map((format, at) => ({ format, address: addresses[at] as string })),
        tagIds: params.privateKeyTags as TagId[],
        exported: false,
        imported: false,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
    });
    await store.privateKeys.insert(organizationId, keys);
    return { privateKeys: keys.map(({ id, addresses }) => ({ privateKeyId: id, addresses: [...addresses] })) };
  },
});

const tagsOf = (keys: readonly { readonly privateKeyTags: readonly string[] }[]): string[] =>
  keys.flatMap(({ privateKeyTags }) => privateKeyTags);
