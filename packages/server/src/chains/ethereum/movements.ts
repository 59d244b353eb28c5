import type { AssetMovements, UncountedPart } from '../asset-types.ts';
import { together } from '../movements.ts';
import { type EvmCall, unbatched } from './batch.ts';
import { delegationParts, evmMovements, maySpeakOfWrappers, type OwnContracts } from './call-movements.ts';
import { authorityOf } from './eip7702.ts';
import type { EthereumTransaction } from './transaction.ts';

export function ethereumMovements(transaction: EthereumTransaction, from: string, own: OwnContracts): AssetMovements {
  return together([
    callsMovements(transaction.chainId, from, [transaction], own),
    { transfers: [], uncounted: delegations(transaction, from, own) },
  ]);
}

/** What calls take; those of a batch stand in its place. */
export const callsMovements = (
  chainId: bigint,
  from: string,
  calls: readonly EvmCall[],
  own: OwnContracts,
): AssetMovements => together(unbatched(from, calls).map((call) => evmMovements(chainId, from, call, own)));

/** Whether what calls take depends on the contracts of the service. */
export const mayCallWrappers = (from: string, calls: readonly EvmCall[]): boolean =>
  unbatched(from, calls).some(maySpeakOfWrappers);

/** Entries that give the account itself to others. */
const delegations = (
  { authorizationList }: EthereumTransaction,
  from: string,
  own: OwnContracts,
): readonly UncountedPart[] =>
  authorizationList.flatMap((entry, index) =>
    authorityOf(entry) === from ? delegationParts(`authorizationList entry ${index}`, entry, own) : [],
  );
