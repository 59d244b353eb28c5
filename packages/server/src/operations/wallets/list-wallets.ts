import Type from 'typebox';
import { toPageRequest } from '../../lib/pagination.ts';
import { renderWallet } from '../../wire/wallet.ts';
import { defineQuery } from '../define.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../shapes/basic.ts';
import { WalletShape } from '../shapes/wallets.ts';

export const listWallets = defineQuery({
  name: 'list_wallets',
  summary: 'Wallets of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ wallets: Type.Array(WalletShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const { items, pageInfo } = await read.wallets.page(
      actor.organizationId,
      toPageRequest(paginationOptions, config.listMax),
    );
    return { wallets: items.map(renderWallet), pageInfo };
  },
});
