import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { toPageRequest } from '../../../lib/pagination.ts';
import { IdShape, PageInfoShape, PaginationShape } from '../../../lib/shapes.ts';
import { renderWallet } from '../render.ts';
import { WalletShape } from '../shapes.ts';
import { WalletReader } from '../store/wallets.ts';

export const listWallets = defineQuery({
  name: 'list_wallets',
  summary: 'Wallets of the organization, oldest first.',
  parameters: Type.Object({ organizationId: IdShape, paginationOptions: Type.Optional(PaginationShape) }),
  response: Type.Object({ wallets: Type.Array(WalletShape), pageInfo: PageInfoShape }),
  async run({ read, actor, config }, { paginationOptions }) {
    const { items, pageInfo } = await read(WalletReader).page(
      actor.organizationId,
      toPageRequest(paginationOptions, config.listMax),
    );
    return { wallets: items.map(renderWallet), pageInfo };
  },
});
