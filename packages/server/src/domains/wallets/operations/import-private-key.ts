import Type from 'typebox';
import type { Curve } from '../../../core/model.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { EncryptedBundleShape } from '../../../engine/shapes/bundles.ts';
import { firstDuplicate } from '../../../lib/collections.ts';
import { invalidField } from '../../../lib/errors.ts';
import type { PrivateKeyId } from '../../../lib/ids.ts';
import { IdShape, listShape, NameShape } from '../../../lib/shapes.ts';
import { checkFormat } from '../accounts.ts';
import { importOnce, liveTargets, requireSelf, useTarget } from '../imports.ts';
import { AddressFormatShape, CurveShape, PrivateKeyResultShape } from '../shapes.ts';
import { PrivateKeyStore } from '../store/private-keys.ts';

export const importPrivateKey = defineActivity({
  name: 'import_private_key',
  type: 'ACTIVITY_TYPE_IMPORT_PRIVATE_KEY',
  summary: 'Import a private key that was encrypted to the key of init_import_private_key.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'IMPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({
    userId: IdShape,
    privateKeyName: NameShape,
    encryptedBundle: EncryptedBundleShape,
    curve: CurveShape,
    addressFormats: listShape(AddressFormatShape),
  }),
  sentence: ({ privateKeyName }) =>
    lookClosely(
      say`Import private key ${named(privateKeyName)}: whoever had it before still has it.`,
      'others may have the key',
      'Whoever had this key before can still use it. I want it here.',
    ),
  result: PrivateKeyResultShape,
  check({ curve, addressFormats }) {
    for (const format of addressFormats) checkFormat(curve, format, 'parameters.addressFormats');
    if (firstDuplicate(addressFormats) !== undefined)
      throw invalidField('parameters.addressFormats', 'names a format twice');
  },
  describe: requireSelf,
  prepare: (context, { encryptedBundle, curve, addressFormats }) =>
    importOnce(context, async () => {
      const targets = await liveTargets(context, 'private-key');
      const id: PrivateKeyId = context.newId();
      const sealed = targets.map((target) => ({ id: target.id, sealed: target.sealedTarget }));
      const imported = await context.keyring.importPrivateKey(
        holderOf(context, id),
        sealed,
        encryptedBundle,
        curve as Curve,
        addressFormats,
      );
      return { id, ...imported };
    }),
  async execute(context, { privateKeyName, curve, addressFormats }, prepared) {
    const { store, actor, nowMs } = context;
    await useTarget(context, prepared.targetId);
    const addresses = addressFormats.map((format, at) => ({ format, address: prepared.addresses[at] as string }));
    const key = {
      id: prepared.id,
      name: privateKeyName,
      curve: curve as Curve,
      publicKey: prepared.publicKey,
      sealedKey: prepared.sealedKey,
      addresses,
      tagIds: [],
      exported: false,
      imported: true,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store(PrivateKeyStore).insert(actor.organizationId, [key]);
    return { privateKeyId: prepared.id, addresses };
  },
});
