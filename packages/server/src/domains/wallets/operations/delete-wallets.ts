import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { walletsElement } from '../facts.ts';
import { deletionSentence } from '../sentences.ts';
import { WalletStore, walletNotFound } from '../store/wallets.ts';

export const deleteWallets = defineActivity({
  name: 'delete_wallets',
  type: 'ACTIVITY_TYPE_DELETE_WALLETS',
  summary: 'Delete wallets with their seeds and accounts, all or nothing.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'DELETE', namespaces: [['wallets']] },
  credentials: 'none',
  parameters: Type.Object({ walletIds: IdListShape, deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  sentence: ({ walletIds }, context) => deletionSentence(context, 'wallet', walletIds),
  result: Type.Object({ walletIds: Type.Array(Type.String()) }),
  facts: (context, { walletIds }) => walletsElement(context, walletIds),
  async execute({ store, actor }, { walletIds, deleteWithoutExport }) {
    const { organizationId } = actor;
    const ids = [...new Set(walletIds)];
    const wallets = await store(WalletStore).many(organizationId, ids);
    if (wallets.length !== ids.length) throw walletNotFound();
    if (deleteWithoutExport !== true && wallets.some((wallet) => !wallet.exported)) {
      throw new ApiError(
        'WALLET_ACCOUNT_NOT_EXPORTED',
        'a wallet was never exported; deleteWithoutExport deletes it all the same',
      );
    }
    await store(WalletStore).delete(organizationId, ids);
    return { walletIds: ids };
  },
});
