import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { deletionSentence } from '../sentences.ts';
import { PrivateKeyStore, privateKeyNotFound } from '../store/private-keys.ts';

export const deletePrivateKeys = defineActivity({
  name: 'delete_private_keys',
  type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
  summary: 'Delete private keys, all or nothing.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ privateKeyIds: IdListShape, deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  sentence: ({ privateKeyIds }, context) => deletionSentence(context, 'privateKey', privateKeyIds),
  result: Type.Object({ privateKeyIds: Type.Array(Type.String()) }),
  async execute({ store, actor }, { privateKeyIds, deleteWithoutExport }) {
    const { organizationId } = actor;
    const ids = [...new Set(privateKeyIds)];
    const keys = await store(PrivateKeyStore).many(organizationId, ids);
    if (keys.length !== ids.length) throw privateKeyNotFound();
    if (deleteWithoutExport !== true && keys.some((key) => !key.exported)) {
      throw new ApiError(
        'WALLET_ACCOUNT_NOT_EXPORTED',
        'a private key was never exported; deleteWithoutExport deletes it all the same',
      );
    }
    await store(PrivateKeyStore).delete(organizationId, ids);
    return { privateKeyIds: ids };
  },
});
