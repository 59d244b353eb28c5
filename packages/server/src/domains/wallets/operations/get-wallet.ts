import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderWallet } from '../render.ts';
import { WalletShape } from '../shapes.ts';
import { WalletReader } from '../store/wallets.ts';

export const getWallet = defineQuery({
  name: 'get_wallet',
  summary: 'One wallet.',
  parameters: Type.Object({ organizationId: IdShape, walletId: IdShape }),
  response: Type.Object({ wallet: WalletShape }),
  async run({ read, actor }, { walletId }) {
    return { wallet: renderWallet(await read(WalletReader).get(actor.organizationId, walletId)) };
  },
});
