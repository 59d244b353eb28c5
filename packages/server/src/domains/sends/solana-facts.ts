import { together } from '../../chains/movements.ts';
import { solanaAddress } from '../../chains/solana/signatures.ts';
import type { SolanaTransaction } from '../../chains/solana/solana.ts';
import {
  assetMovements,
  highestFees,
  type ParsedTransaction,
  transactionNamespaces,
} from '../../chains/transactions.ts';
import type { FactsContext, Movements } from '../../engine/define.ts';
import { groupBy } from '../../lib/collections.ts';
import type { Namespaces } from '../../policy/index.ts';
import { interfacesOf, movementsOf, signerFacts } from '../signing/facts.ts';
import type { Signer } from '../signing/signer.ts';

const seenBy = (transaction: SolanaTransaction, { account }: Signer): ParsedTransaction => ({
  type: 'TRANSACTION_TYPE_SOLANA',
  transaction,
  signer: solanaAddress(account) ?? '',
});

/**
 * The transaction once for each signer, with that signer's wallet or key: whoever may use one of them may not use all.
 */
export async function solanaFactsOf(
  context: FactsContext,
  signers: readonly Signer[],
  transaction: SolanaTransaction,
): Promise<Namespaces[]> {
  const [first] = signers;
  if (first === undefined) return [];
  const parsed = seenBy(transaction, first);
  // What a transaction says does not depend on who signs it.
  const said = transactionNamespaces(parsed, await interfacesOf(context, parsed));
  return signers.map((signer) => ({ ...said, ...signerFacts(signer) }));
}

/** What the signers lose together, and each of their wallets. */
export function solanaMovements(signers: readonly Signer[], transaction: SolanaTransaction): Movements {
  const moved = signers.map((signer) => {
    const parsed = seenBy(transaction, signer);
    return movementsOf(signer, { ...assetMovements(parsed), fees: highestFees(parsed) });
  });
  const byWallet = groupBy(moved, ({ walletId }) => walletId);
  const wallets = [...byWallet].flatMap(([walletId, some]) =>
    walletId === undefined ? [] : [{ walletId, ...together(some) }],
  );
  return { wallets, ...together(moved), phases: ['signature', 'submission'] };
}
