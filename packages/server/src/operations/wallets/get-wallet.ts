import Type from 'typebox';
import { renderWallet } from '../../wire/wallet.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { WalletShape } from '../shapes/wallets.ts';

export const getWallet = defineQuery({
  name: 'get_wallet',
  summary: 'One wallet.',
  parameters: Type.Object({ organizationId: IdShape, walletId: IdShape }),
  response: Type.Object({ wallet: WalletShape }),
  async run({ read, actor }, { walletId }) {
    return { wallet: renderWallet(await read.wallets.get(actor.organizationId, walletId)) };
  },
});
