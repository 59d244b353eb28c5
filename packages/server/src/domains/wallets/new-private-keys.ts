import type { Keyring } from '@custos/keyring';
import Type from 'typebox';
import type { Curve } from '../../core/model.ts';
import { firstDuplicate } from '../../lib/collections.ts';
import { invalidField } from '../../lib/errors.ts';
import type { NewId, PrivateKeyId, TagId } from '../../lib/ids.ts';
import { IdListOrEmptyShape, listShape, NameShape } from '../../lib/shapes.ts';
import { checkFormat } from './accounts.ts';
import type { PrivateKey } from './model.ts';
import { AddressFormatShape, CurveShape } from './shapes.ts';

export const PrivateKeyParamsShape = Type.Object({
  privateKeyName: NameShape,
  curve: CurveShape,
  privateKeyTags: IdListOrEmptyShape,
  addressFormats: listShape(AddressFormatShape),
});
export type PrivateKeyParams = Type.Static<typeof PrivateKeyParamsShape>;

/** The rules on new private keys that need no database. */
export function checkPrivateKeys(keys: readonly PrivateKeyParams[], field: string): void {
  for (const [index, { curve, addressFormats }] of keys.entries()) {
    const at = `${field}.${index}.addressFormats`;
    for (const format of addressFormats) checkFormat(curve, format, at);
    if (firstDuplicate(addressFormats) !== undefined) throw invalidField(at, 'names a format twice');
  }
}

type Holder = Omit<Parameters<Keyring['createPrivateKey']>[0], 'ownerId'>;

/** Makes the keys in the keyring, sealed for the organization that holds them; each is ready to be stored. */
export async function makePrivateKeys(
  { keyring, newId, nowMs }: { readonly keyring: Keyring; readonly newId: NewId; readonly nowMs: number },
  holder: Holder,
  keys: readonly PrivateKeyParams[],
): Promise<PrivateKey[]> {
  return await Promise.all(
    keys.map(async ({ privateKeyName, curve, privateKeyTags, addressFormats }): Promise<PrivateKey> => {
      const id: PrivateKeyId = newId();
      const made = await keyring.createPrivateKey({ ...holder, ownerId: id }, curve as Curve, addressFormats);
      return {
        id,
        name: privateKeyName,
        curve: curve as Curve,
        publicKey: made.publicKey,
        sealedKey: made.sealedKey,
        addresses: addressFormats.map((format, at) => ({ format, address: made.addresses[at] as string })),
        tagIds: privateKeyTags as TagId[],
        exported: false,
        imported: false,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
    }),
  );
}

/** As results name new keys. */
export const toKeyResult = ({ id, addresses }: PrivateKey) => ({
  privateKeyId: id as string,
  addresses: addresses.map((address) => ({ ...address })),
});
