import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { WalletAccount } from '../../lib/model.ts';
import { accountNotFound } from '../../storage/stores/wallets.ts';
import type { Stores } from '../../storage/stores.ts';
import { defineActivity } from '../define.ts';
import { IdListShape } from '../shapes/basic.ts';
import { walletsElement } from './facts.ts';

export const deleteWalletAccounts = defineActivity({
  name: 'delete_wallet_accounts',
  type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
  summary: 'Delete wallet accounts, all or nothing; the wallet stays, and a deleted path can be derived again.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ walletAccountIds: IdListShape, deleteWithoutExport: Type.Optional(Type.Boolean()) }),
  result: Type.Object({ walletAccountIds: Type.Array(Type.String()) }),
  async facts(context, { walletAccountIds }) {
    const { read, actor } = context;
    const accounts = await read.wallets.accountsById(actor.organizationId, [...new Set(walletAccountIds)]);
    return await walletsElement(
      context,
      accounts.map(({ walletId }) => walletId),
    );
  },
  async execute({ store, actor }, { walletAccountIds, deleteWithoutExport }) {
    const { organizationId } = actor;
    const ids = [...new Set(walletAccountIds)];
    const accounts = await store.wallets.accountsById(organizationId, ids);
    if (accounts.length !== ids.length) throw accountNotFound();
    if (deleteWithoutExport !== true && !(await wereExported(store, organizationId, accounts))) {
      throw new ApiError(
        'WALLET_ACCOUNT_NOT_EXPORTED',
        'an account was never exported; deleteWithoutExport deletes it all the same',
      );
    }
    await store.wallets.deleteAccounts(organizationId, ids);
    await store.tree.remove(organizationId, ids);
    return { walletAccountIds: ids };
  },
});

/** An account counts as exported when itself or its whole wallet was (RES 6.4). */
async function wereExported(
  store: Stores,
  organizationId: OrganizationId,
  accounts: readonly WalletAccount[],
): Promise<boolean> {
  const others = accounts.filter((account) => !account.exported);
  const wallets = await store.wallets.many(organizationId, [...new Set(others.map((account) => account.walletId))]);
  return wallets.every((wallet) => wallet.exported);
}
