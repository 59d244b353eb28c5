import type { AssetMovements, UncountedPart } from '../asset-types.ts';
import type { EvmCall } from '../ethereum/batch.ts';
import { delegationParts, type OwnContracts } from '../ethereum/call-movements.ts';
import { authorityOf } from '../ethereum/eip7702.ts';
import { callsMovements } from '../ethereum/movements.ts';
import { together } from '../movements.ts';
import type { TempoAuthorization, TempoTransaction } from './transaction.ts';

export const evmCalls = ({ calls }: TempoTransaction): readonly EvmCall[] =>
  calls.map(({ to, value, input }) => ({ to, value, data: input }));

export const tempoMovements = (transaction: TempoTransaction, from: string, own: OwnContracts): AssetMovements =>
  together([
    callsMovements(transaction.chainId, from, evmCalls(transaction), own),
    { transfers: [], uncounted: handedOver(transaction, from, own) },
  ]);

/** Fields beside the calls that give the account to others. */
function handedOver(transaction: TempoTransaction, from: string, own: OwnContracts): readonly UncountedPart[] {
  const { chainId, authorizationList, keyAuthorization } = transaction;
  const delegations = authorizationList.flatMap((entry, index) =>
    mayBeOf(entry, from) ? delegationParts(`authorizationList entry ${index}`, entry, own) : [],
  );
  if (keyAuthorization === '') return delegations;
  const reach = [{ chain: 'eip155', chainReference: String(chainId) }] as const;
  return [...delegations, { name: 'keyAuthorization', certainty: 'known', reach }];
}

/** r, s and v of a secp256k1 signature. Of the other kinds some name an account that they sign for. */
const SECP256K1_SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})$/;

function mayBeOf(entry: TempoAuthorization, account: string): boolean {
  const [, r, s, v] = SECP256K1_SIGNATURE.exec(entry.signature) ?? [];
  if (r === undefined || s === undefined || v === undefined) return true;
  const parity = BigInt(`0x${v}`);
  const yParity = parity >= 27n ? parity - 27n : parity;
  return authorityOf({ ...entry, r: BigInt(`0x${r}`), s: BigInt(`0x${s}`), yParity }) === account;
}
