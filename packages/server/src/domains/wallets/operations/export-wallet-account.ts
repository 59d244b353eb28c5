import Type from 'typebox';
import { walletAccountFacts, walletFacts } from '../../../chains/policy-facts/keys.ts';
import { signerPart } from '../../../describe/chains/parties.ts';
import { danger } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf, targetKeyOf } from '../../../engine/holder.ts';
import { TargetPublicKeyShape } from '../../../engine/shapes/bundles.ts';
import { textShape } from '../../../lib/shapes.ts';
import { requestOf } from '../sentences.ts';
import { accountNotFound, WalletReader, WalletStore } from '../store/wallets.ts';

export const exportWalletAccount = defineActivity({
  name: 'export_wallet_account',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
  summary:
    'Export the private key of one account, encrypted to the target key. Every account with the address is marked as exported.',
  policy: {
    governedBy: 'policy',
    resource: 'WALLET',
    action: 'EXPORT',
    params: ['target_public_key'],
    namespaces: [['wallet', 'wallet_account']],
  },
  credentials: 'none',
  lock: 'exclusive-with-rules',
  parameters: Type.Object({ address: textShape(512), targetPublicKey: TargetPublicKeyShape }),
  sentence: ({ address }, context) =>
    danger(
      say`Hand out the private key of ${signerPart(context, address)} to the key of ${requestOf(context)}: whoever opens it owns the account for ever.`,
      'hands out an account',
      'Whoever opens this owns the account for ever, and nothing here can stop them. I want that.',
    ),
  result: Type.Object({ address: Type.String(), exportBundle: Type.String() }),
  check: ({ targetPublicKey }) => void targetKeyOf(targetPublicKey),
  async describe({ read, actor }, { address }) {
    // Accounts that share an address share a key; the oldest stands for them. It is looked up once, so that what is
    // exported is what was judged.
    const [account] = await read(WalletReader).accountsByAddress(actor.organizationId, address);
    if (account === undefined) throw accountNotFound();
    return account;
  },
  exposes: ({ targetPublicKey }) => ({ target_public_key: targetPublicKey }),
  async facts({ read, actor }, _parameters, account) {
    const wallet = await read(WalletReader).get(actor.organizationId, account.walletId);
    return [{ wallet: walletFacts(wallet), wallet_account: walletAccountFacts(account) }];
  },
  movements: (_context, _parameters, { walletId }) => ({ walletId, transfers: [], uncounted: [] }),
  async prepare(context, { targetPublicKey }, account) {
    const wallet = await context.read(WalletReader).get(context.actor.organizationId, account.walletId);
    const exportBundle = await context.once(() =>
      context.keyring.exportAccount(
        holderOf(context, wallet.id),
        wallet.sealedSeed,
        account.curve,
        account.path,
        targetKeyOf(targetPublicKey),
      ),
    );
    return { account, exportBundle };
  },
  async execute({ store, actor, nowMs }, _parameters, { account, exportBundle }) {
    await store(WalletStore).markAddressExported(actor.organizationId, account.address, nowMs);
    return { address: account.address, exportBundle };
  },
});
