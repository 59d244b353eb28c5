import Type from 'typebox';
import { TreeStore } from '../../../core/store/tree.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import type { Stores } from '../../../storage/stores.ts';
import { walletsElement } from '../facts.ts';
import type { WalletAccount } from '../model.ts';
import { deletionSentence } from '../sentences.ts';
import { accountNotFound, WalletReader, WalletStore } from '../store/wallets.ts';

export const deleteWalletAccounts = defineActivity({
  name: 'delete_wallet_accounts',
  type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
  summary: 'Delete wallet accounts, all or nothing; the wallet stays, and a deleted path can be derived again.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'DELETE', namespaces: [['wallets']] },
  credentials: 'none',
  parameters: Type.Object({ walletAccountIds: IdListShape, deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  sentence: ({ walletAccountIds }, context) => deletionSentence(context, 'walletAccount', walletAccountIds),
  result: Type.Object({ walletAccountIds: Type.Array(Type.String()) }),
  async facts(context, { walletAccountIds }) {
    const { read, actor } = context;
    const accounts = await read(WalletReader).accountsById(actor.organizationId, [...new Set(walletAccountIds)]);
    return await walletsElement(
      context,
      accounts.map(({ walletId }) => walletId),
    );
  },
  async execute({ store, actor }, { walletAccountIds, deleteWithoutExport }) {
    const { organizationId } = actor;
    const ids = [...new Set(walletAccountIds)];
    const accounts = await store(WalletStore).accountsById(organizationId, ids);
    if (accounts.length !== ids.length) throw accountNotFound();
    if (deleteWithoutExport !== true && !(await wereExported(store, organizationId, accounts))) {
      throw new ApiError(
        'WALLET_ACCOUNT_NOT_EXPORTED',
        'an account was never exported; deleteWithoutExport deletes it all the same',
      );
    }
    await store(WalletStore).deleteAccounts(organizationId, ids);
    await store(TreeStore).remove(organizationId, ids);
    return { walletAccountIds: ids };
  },
});

/** An account counts as exported when itself or its whole wallet was (protocol/wallets 7.1). */
async function wereExported(
  store: Stores,
  organizationId: OrganizationId,
  accounts: readonly WalletAccount[],
): Promise<boolean> {
  const others = accounts.filter((account) => !account.exported);
  const wallets = await store(WalletStore).many(organizationId, [
    ...new Set(others.map((account) => account.walletId)),
  ]);
  return wallets.every((wallet) => wallet.exported);
}
