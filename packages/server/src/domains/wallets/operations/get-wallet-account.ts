import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { invalidField } from '../../../lib/errors.ts';
import { IdShape, textShape } from '../../../lib/shapes.ts';
import { renderAccount } from '../render.ts';
import { WalletAccountShape } from '../shapes.ts';
import { accountNotFound, WalletReader } from '../store/wallets.ts';

export const getWalletAccount = defineQuery({
  name: 'get_wallet_account',
  summary: 'One account of a wallet, by address or path; both given must agree.',
  parameters: Type.Object({
    organizationId: IdShape,
    walletId: IdShape,
    address: Type.Optional(textShape(512)),
    path: Type.Optional(textShape(255)),
  }),
  response: Type.Object({ account: WalletAccountShape }),
  async run({ read, actor }, { walletId, address, path }) {
    if (!address && !path) throw invalidField('address', 'give an address or a path');
    await read(WalletReader).get(actor.organizationId, walletId);
    const match = { address: address || undefined, path: path?.replace(/[hH](?=\/|$)/g, "'") || undefined };
    const account = await read(WalletReader).accountInWallet(actor.organizationId, walletId, match);
    if (account === undefined) throw accountNotFound();
    return { account: renderAccount(actor.organizationId, account, undefined) };
  },
});
