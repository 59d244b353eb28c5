import type { MnemonicLanguage } from '@custos/keyring';
import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { danger } from '../../../describe/sentence.ts';
import { say, strong } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf, targetKeyOf } from '../../../engine/holder.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { walletElement } from '../facts.ts';
import { requestOf } from '../sentences.ts';
import { MnemonicLanguageShape } from '../shapes.ts';
import { WalletReader, WalletStore } from '../store/wallets.ts';

export const exportWallet = defineActivity({
  name: 'export_wallet',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET',
  summary: 'Export the mnemonic of a wallet, encrypted to the target key. The wallet is marked as exported.',
  policy: {
    governedBy: 'policy',
    resource: 'WALLET',
    action: 'EXPORT',
    params: ['target_public_key'],
    namespaces: [['wallet']],
  },
  credentials: 'none',
  lock: 'exclusive-with-rules',
  parameters: Type.Object({
    walletId: IdShape,
    targetPublicKey: TargetPublicKeyShape,
    language: Type.Optional(MnemonicLanguageShape),
  }),
  sentence({ walletId }, context) {
    const count = context.names.get('wallet', walletId)?.accountCount;
    const all = count === undefined ? 'all its accounts' : count === 1 ? 'its one account' : `all ${count} accounts`;
    return danger(
      say`Hand out ${strong('the words')} of ${nameOf(context.names, 'wallet', walletId)} to the key of ${requestOf(context)}: whoever opens them owns ${all} for ever.`,
      'hands out the whole wallet',
      'Whoever opens this owns the whole wallet for ever, and nothing here can stop them. I want that.',
    );
  },
  result: Type.Object({ walletId: Type.String(), exportBundle: Type.String() }),
  check: ({ targetPublicKey }) => void targetKeyOf(targetPublicKey),
  exposes: ({ targetPublicKey }) => ({ target_public_key: targetPublicKey }),
  describe: ({ read, actor }, { walletId }) => read(WalletReader).get(actor.organizationId, walletId),
  facts: (context, { walletId }) => walletElement(context, walletId),
  movements: (_context, { walletId }) => ({ walletId, transfers: [], uncounted: [] }),
  prepare: (context, { targetPublicKey, language }, wallet) =>
    context.once(() =>
      context.keyring.exportWallet(
        holderOf(context, wallet.id),
        wallet.sealedSeed,
        language as MnemonicLanguage | undefined,
        targetKeyOf(targetPublicKey),
      ),
    ),
  async execute({ store, actor, nowMs }, { walletId }, exportBundle) {
    await store(WalletStore).markExported(actor.organizationId, walletId, nowMs);
    return { walletId, exportBundle };
  },
});
