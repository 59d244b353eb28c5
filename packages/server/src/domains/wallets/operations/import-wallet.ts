import Type from 'typebox';
import { lookClosely } from '../../../describe/sentence.ts';
import { counted, named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { EncryptedBundleShape } from '../../../engine/shapes/bundles.ts';
import type { WalletId } from '../../../lib/ids.ts';
import { IdShape, listShape, NameShape } from '../../../lib/shapes.ts';
import { addAccounts, checkAccounts, toSpecs } from '../accounts.ts';
import { importOnce, liveTargets, requireSelf, useTarget } from '../imports.ts';
import { WalletAccountParamsShape, WalletResultShape } from '../shapes.ts';
import { WalletStore } from '../store/wallets.ts';

export const importWallet = defineActivity({
  name: 'import_wallet',
  type: 'ACTIVITY_TYPE_IMPORT_WALLET',
  summary: 'Import a mnemonic that was encrypted to the key of init_import_wallet.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'IMPORT' },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({
    userId: IdShape,
    walletName: NameShape,
    encryptedBundle: EncryptedBundleShape,
    accounts: listShape(WalletAccountParamsShape),
  }),
  sentence: ({ walletName, accounts }) =>
    lookClosely(
      say`Import wallet ${named(walletName)} with ${counted(accounts.length, 'account')}: whoever had its words before still has them.`,
      'others may have its words',
      'Whoever had the words of this wallet before can still use it. I want it here.',
    ),
  result: WalletResultShape,
  check: ({ accounts }) => checkAccounts(accounts, 'parameters.accounts'),
  describe: requireSelf,
  prepare: (context, { encryptedBundle, accounts }) =>
    importOnce(context, async () => {
      const targets = await liveTargets(context, 'wallet');
      const walletId: WalletId = context.newId();
      const sealed = targets.map(({ id, sealedTarget }) => ({ id, sealed: sealedTarget }));
      const imported = await context.keyring.importWallet(
        holderOf(context, walletId),
        sealed,
        encryptedBundle,
        toSpecs(accounts),
      );
      return { walletId, ...imported };
    }),
  async execute(context, { walletName, accounts }, prepared) {
    const { store, actor, nowMs } = context;
    await useTarget(context, prepared.targetId);
    const wallet = {
      id: prepared.walletId,
      name: walletName,
      sealedSeed: prepared.sealedSeed,
      exported: false,
      imported: true,
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
