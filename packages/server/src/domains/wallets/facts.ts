import { walletFacts } from '../../chains/policy-facts/keys.ts';
import type { FactsContext } from '../../engine/define.ts';
import type { Namespaces } from '../../policy/index.ts';
import { WalletReader } from './store/wallets.ts';

/**
 * `wallet`. One that is not there has no facts and is refused when it is used; nobody can foresee the id of one that is yet
 * to come, so no rule about it is passed.
 */
export async function walletElement({ read, actor }: FactsContext, walletId: string): Promise<readonly Namespaces[]> {
  const wallet = await read(WalletReader).find(actor.organizationId, walletId);
  return [wallet === undefined ? {} : { wallet: walletFacts(wallet) }];
}

/** `wallets`: those of the given ones that are there, in their order. */
export async function walletsElement(
  { read, actor }: FactsContext,
  walletIds: readonly string[],
): Promise<readonly Namespaces[]> {
  const ids = [...new Set(walletIds)];
  const found = new Map(
    (await read(WalletReader).many(actor.organizationId, ids)).map((wallet) => [wallet.id as string, wallet]),
  );
  const wallets = ids.flatMap((id) => found.get(id) ?? []);
  return [{ wallets: wallets.map(walletFacts) }];
}
