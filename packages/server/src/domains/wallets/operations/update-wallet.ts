import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { walletElement } from '../facts.ts';
import { WalletStore } from '../store/wallets.ts';

export const updateWallet = defineActivity({
  name: 'update_wallet',
  type: 'ACTIVITY_TYPE_UPDATE_WALLET',
  summary: 'Rename a wallet.',
  policy: {
    governedBy: 'policy',
    resource: 'WALLET',
    action: 'UPDATE',
    params: ['wallet_id'],
    namespaces: [['wallet']],
  },
  credentials: 'none',
  lock: 'exclusive-with-rules',
  parameters: Type.Object({ walletId: IdShape, walletName: Type.Optional(NameShape) }),
  sentence: ({ walletId, walletName }, { names }) =>
    walletName === undefined
      ? say`Keep the name of wallet ${nameOf(names, 'wallet', walletId)}.`
      : say`Rename wallet ${nameOf(names, 'wallet', walletId)} to ${named(walletName)}.`,
  result: Type.Object({ walletId: Type.String() }),
  exposes: ({ walletId }) => ({ wallet_id: walletId }),
  facts: (context, { walletId }) => walletElement(context, walletId),
  movements: (_context, { walletId }) => ({ walletId, transfers: [], uncounted: [] }),
  async execute({ store, actor, nowMs }, { walletId, walletName }) {
    await store(WalletStore).rename(actor.organizationId, walletId, walletName, nowMs);
    return { walletId };
  },
});
