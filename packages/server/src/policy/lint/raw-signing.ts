import { signsRaw } from '../catalog/activity-facts.ts';
import { TRANSACTIONS } from '../catalog/namespaces.ts';
import { typesIn } from '../catalog/type-set.ts';
import { intersect, isEmpty } from './domain.ts';
import { feasibleAlternatives, readsOf } from './reads.ts';
import type { Subject } from './subject.ts';

const TRANSACTION_NAMESPACES: readonly string[] = TRANSACTIONS.flat();

/** Whether a policy says something about the transactions of a key. */
export const restrictsTransactions = ({ reads }: Subject): boolean =>
  TRANSACTION_NAMESPACES.some((namespace) => reads.has(namespace));

/** Whether a policy may allow the signing of bytes that nobody can read. */
export function allowsRawSigning({ prepared: { condition }, types, domains }: Subject): boolean {
  if (condition === undefined) return true;
  const reads = readsOf(condition.tree);
  const isOpaque = (alternative: readonly string[]): boolean => !alternative.some((name) => name.startsWith('eth.'));
  return typesIn(types)
    .filter(({ kind }) => signsRaw(kind))
    .some((row) => feasibleAlternatives(reads, domains, row).some(isOpaque));
}

const KEYS = ['wallet.id', 'wallet_account.address', 'private_key.id'] as const;

/** Whether some key may be the signer under both policies. */
export function mayShareKey(left: Subject, right: Subject): boolean {
  // One about wallets and one about private keys never meet: a signer is one or the other.
  const aboutWallets = isAboutWallets(left) || isAboutWallets(right);
  if (aboutWallets && (isAboutPrivateKeys(left) || isAboutPrivateKeys(right))) return false;
  return KEYS.every((key) => {
    const [one, other] = [left.domains.get(key), right.domains.get(key)];
    return one === undefined || other === undefined || !isEmpty(intersect(one, other));
  });
}

const isAboutWallets = ({ reads }: Subject): boolean => reads.has('wallet') || reads.has('wallet_account');
const isAboutPrivateKeys = ({ reads }: Subject): boolean => reads.has('private_key');
