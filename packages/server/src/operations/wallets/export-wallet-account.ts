import Type from 'typebox';
import { accountNotFound } from '../../storage/stores/wallets.ts';
import { defineActivity } from '../define.ts';
import { textShape } from '../shapes/basic.ts';
import { TargetPublicKeyShape } from '../shapes/wallets.ts';
import { holderOf, targetKeyOf } from './accounts.ts';

/** spec 4.2. */
export const exportWalletAccount = defineActivity({
  name: 'export_wallet_account',
  type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
  summary: 'Export the private key of one account, encrypted to the target key. The account is marked as exported.',
  policy: { governedBy: 'policy', resource: 'WALLET', action: 'EXPORT' },
  lock: 'shared',
  parameters: Type.Object({ address: textShape(512), targetPublicKey: TargetPublicKeyShape }),
  result: Type.Object({ address: Type.String(), exportBundle: Type.String() }),
  check: ({ targetPublicKey }) => void targetKeyOf(targetPublicKey),
  async prepare(context, { address, targetPublicKey }) {
    const { organizationId } = context.actor;
    // Accounts that share an address share a key; the oldest stands for them.
    const [account] = await context.read.wallets.accountsByAddress(organizationId, address);
    if (account === undefined) throw accountNotFound();
    const wallet = await context.read.wallets.get(organizationId, account.walletId);
    const exportBundle = await context.keyring.exportAccount(
      holderOf(context, wallet.id),
      wallet.sealedSeed,
      account.curve,
      account.path,
      targetKeyOf(targetPublicKey),
    );
    return { account, exportBundle };
  },
  async execute({ store, actor, nowMs }, _parameters, { account, exportBundle }) {
    await store.wallets.markAccountExported(actor.organizationId, account.id, nowMs);
    return { address: account.address, exportBundle };
  },
});
