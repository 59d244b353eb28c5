import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderAccount } from '../render.ts';
import { WalletAccountShape } from '../shapes.ts';
import { WalletReader } from '../store/wallets.ts';

export const listWalletAccounts = defineQuery({
  name: 'list_wallet_accounts',
  summary: 'Accounts of a wallet, or of the whole organization; oldest first.',
  parameters: Type.Object({
    organizationId: IdShape,
    walletId: Type.Optional(IdShape),
    includeWalletDetails: Type.Optional(Type.Boolean()),
    paginationOptions: Type.Optional(PaginationShape),
  }),
  response: Type.Object({ accounts: Type.Array(WalletAccountShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { walletId, includeWalletDetails, paginationOptions }) {
    const { organizationId } = actor;
    if (walletId !== undefined) await read(WalletReader).get(organizationId, walletId);
    const request = toPageRequest(paginationOptions, config.listMax);
    const { items, pageInfo } = await read(WalletReader).accounts(organizationId, walletId, request);
    const walletIds = includeWalletDetails ? [...new Set(items.map((account) => account.walletId))] : [];
    const wallets = new Map(
      (await read(WalletReader).many(organizationId, walletIds)).map((wallet) => [wallet.id, wallet]),
    );
    return {
      accounts: items.map((account) => renderAccount(organizationId, account, wallets.get(account.walletId))),
      pageInfo,
    };
  },
});
