import { counted, named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import type { WalletId } from '../../../lib/ids.ts';
import { addAccounts, checkAccounts, toSpecs } from '../accounts.ts';
import { WalletParamsShape, WalletResultShape } from '../shapes.ts';
import { WalletStore } from '../store/wallets.ts';

export const createWallet = defineActivity({
  name: 'create_wallet',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  summary: 'Create an HD wallet from a new mnemonic, with accounts.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'CREATE' },
  credentials: 'none',
  lock: 'shared',
  parameters: WalletParamsShape,
  sentence: ({ walletName, accounts }) =>
    say`Create wallet ${named(walletName)} with ${counted(accounts.length, 'account')}.`,
  result: WalletResultShape,
  check: ({ accounts }) => checkAccounts(accounts, 'parameters.accounts'),
  async prepare(context, { mnemonicLength, accounts }) {
    const walletId: WalletId = context.newId();
    const created = await context.keyring.createWallet(
      holderOf(context, walletId),
      mnemonicLength ?? 12,
      toSpecs(accounts),
    );
    return { walletId, ...created };
  },
  async execute(context, { walletName, accounts }, prepared) {
    const { store, actor, nowMs } = context;
    const wallet = {
      id: prepared.walletId,
      name: walletName,
      sealedSeed: prepared.sealedSeed,
      exported: false,
      imported: false,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await store(WalletStore).insert(actor.organizationId, wallet);
    const added = await addAccounts(context, wallet, accounts, prepared.accounts);
    return { walletId: wallet.id, addresses: added.map((account) => account.address) };
  },
  newAddresses: (_parameters, prepared) =>
    prepared.accounts.map(({ path, address }) => ({ walletId: prepared.walletId, derivationPath: path, address })),
});
