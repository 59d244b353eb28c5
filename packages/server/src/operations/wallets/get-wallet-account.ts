import Type from 'typebox';
import { invalidField } from '../../lib/errors.ts';
import { accountNotFound } from '../../storage/stores/wallets.ts';
import { renderAccount } from '../../wire/wallet.ts';
import { defineQuery } from '../define.ts';
import { IdShape, textShape } from '../shapes/basic.ts';
import { WalletAccountShape } from '../shapes/wallets.ts';

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
    await read.wallets.get(actor.organizationId, walletId);
    const match = { address: address || undefined, path: path?.replace(/[hH](?=\/|$)/g, "'") || undefined };
    const account = await read.wallets.accountInWallet(actor.organizationId, walletId, match);
    if (account === undefined) throw accountNotFound();
    return { account: renderAccount(actor.organizationId, account, undefined) };
  },
});
