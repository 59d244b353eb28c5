import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { counted, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import type { WalletId } from '../../../lib/ids.ts';
import { IdShape, listShape } from '../../../lib/shapes.ts';
import { addAccounts, checkAccounts, toSpecs } from '../accounts.ts';
import { walletElement } from '../facts.ts';
import { WalletAccountParamsShape } from '../shapes.ts';
import { WalletReader } from '../store/wallets.ts';

export const createWalletAccounts = defineActivity({
  name: 'create_wallet_accounts',
  type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
  summary: 'Derive accounts of a wallet; with persist false only their addresses are computed.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'CREATE', namespaces: [['wallet']] },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({
    walletId: IdShape,
    accounts: listShape(WalletAccountParamsShape, 1),
    persist: Type.Optional(Type.Boolean()),
  }),
  sentence: ({ walletId, accounts }, { names }) =>
    say`Add ${counted(accounts.length, 'account')} to wallet ${nameOf(names, 'wallet', walletId)}.`,
  result: Type.Object({ addresses: Type.Array(Type.String()) }),
  check: ({ accounts }) => checkAccounts(accounts, 'parameters.accounts'),
  describe: ({ read, actor }, { walletId }) => read(WalletReader).get(actor.organizationId, walletId),
  facts: (context, { walletId }) => walletElement(context, walletId),
  movements: (_context, { walletId }) => ({ walletId, transfers: [], uncounted: [] }),
  async prepare(context, { accounts }, wallet) {
    return await context.keyring.deriveAccounts(holderOf(context, wallet.id), wallet.sealedSeed, toSpecs(accounts));
  },
  async execute(context, { walletId, accounts, persist }, derived) {
    // That the wallet is still there, the engine knows: to delete one alters what decisions read (docs/decisions/0001).
    if (persist !== false) await addAccounts(context, { id: walletId as WalletId }, accounts, derived);
    return { addresses: derived.map(({ address }) => address) };
  },
  newAddresses: ({ walletId, persist }, derived) =>
    persist === false ? [] : derived.map(({ path, address }) => ({ walletId, derivationPath: path, address })),
});
