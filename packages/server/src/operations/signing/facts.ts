import { groupBy } from '../../lib/collections.ts';
import type { Namespaces } from '../../policy/index.ts';
import type { ContractInterface } from '../../policy-facts/contract-interface.ts';
import { privateKeyFacts, walletAccountFacts, walletFacts } from '../../policy-facts/keys.ts';
import { interfacesNeeded, type ParsedTransaction, transactionNamespaces } from '../../policy-facts/transaction.ts';
import type { FactsContext, Movements } from '../define.ts';
import type { Signer } from './signer.ts';

/** `wallet` and `wallet_account`, or `private_key`. A wallet that went away meanwhile must not leave its rules behind. */
export async function signerFacts({ read, actor }: FactsContext, { source }: Signer): Promise<Namespaces> {
  if (source.kind === 'private-key') return { private_key: privateKeyFacts(source.key) };
  const wallet = await read.wallets.get(actor.organizationId, source.account.walletId);
  return { wallet: walletFacts(wallet), wallet_account: walletAccountFacts(source.account) };
}

/** The interfaces that the acting organization, and no other, has for the contracts that are called (POL 9). */
export async function interfacesOf(
  { read, actor, interfaces }: FactsContext,
  transaction: ParsedTransaction,
): Promise<readonly ContractInterface[]> {
  const needed = groupBy(interfacesNeeded(transaction), ({ type }) => type);
  const found = await Promise.all(
    [...needed].map(([type, keys]) =>
      read.contractInterfaces.ofAddresses(actor.organizationId, type, [...new Set(keys.map(({ address }) => address))]),
    ),
  );
  return found
    .flat()
    .map(({ id, type, address, definition }) => interfaces.read({ id, type, address, text: definition }));
}

/** Whose limits a signature counts against. A private key belongs to no wallet. */
export const movementsOf = ({ source }: Signer, transfers: Movements['transfers'] = []): Movements => ({
  walletId: source.kind === 'wallet-account' ? source.account.walletId : undefined,
  transfers,
});

/** One element for each transaction, with the signer's wallet or key where it is one of this organization's. */
export async function transactionFacts(
  context: FactsContext,
  signer: Signer | undefined,
  transactions: readonly ParsedTransaction[],
): Promise<Namespaces[]> {
  const target = signer && (await signerFacts(context, signer));
  return await Promise.all(
    transactions.map(async (parsed) => ({
      ...transactionNamespaces(parsed, await interfacesOf(context, parsed)),
      ...target,
    })),
  );
}
