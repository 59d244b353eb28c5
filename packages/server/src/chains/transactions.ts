import { assert } from '../lib/assert.ts';
import type { Namespaces } from '../policy/index.ts';
import type { AssetFee, AssetMovements } from './asset-types.ts';
import type { InterfaceKey, TransactionFormat } from './chain.ts';
import type { ContractInterface } from './contract-interface-types.ts';
import { NO_CONTRACTS, type OwnContracts } from './ethereum/call-movements.ts';
import { FORMATS } from './formats.ts';
import type { Candidates, FittedSignable } from './signable.ts';

type Format = (typeof FORMATS)[keyof typeof FORMATS]['transactions'];

/** A transaction that is to be signed, with what it depends on who signs it. */
export type ParsedTransaction = ReturnType<Format['read']>;
export type TransactionType = ParsedTransaction['type'];

const BY_TYPE: ReadonlyMap<string, TransactionFormat<ParsedTransaction>> = new Map(
  Object.values(FORMATS).map(({ transactions }) => [transactions.type, transactions]),
);

export const TRANSACTION_TYPES: readonly TransactionType[] = Object.values(FORMATS).map(
  ({ transactions }) => transactions.type,
);

function formatOf(type: TransactionType): TransactionFormat<ParsedTransaction> {
  const format = BY_TYPE.get(type);
  assert(format !== undefined, 'every type of transaction is that of a family');
  return format;
}

/** Parses an unsigned transaction for its signer; refuses before any key is touched. */
export const signableOf = (
  type: TransactionType,
  unsigned: string,
  signer: Candidates,
): FittedSignable<ParsedTransaction> => formatOf(type).fit(unsigned, signer);

/** Who signs, and what is going to be signed, and as which account, where that is known. */
interface Signer extends Candidates {
  readonly fitted?: FittedSignable<ParsedTransaction>;
}

/** Parses for whoever judges; refuses what the signer would refuse for its form (INVALID_TRANSACTION). */
export const readTransaction = (type: TransactionType, unsigned: string, signer: Signer): ParsedTransaction =>
  signer.fitted?.parsed ?? formatOf(type).read(unsigned, signer);

/** The contracts whose interfaces, if the organization has any, say more about the transaction. */
export const interfacesNeeded = (parsed: ParsedTransaction): readonly InterfaceKey[] =>
  formatOf(parsed.type).interfacesNeeded(parsed);

/** The namespace of a transaction (protocol/policy-facts 2). Interfaces of other contracts make no difference. */
export const transactionNamespaces = (
  parsed: ParsedTransaction,
  interfaces: readonly ContractInterface[] = [],
): Namespaces => formatOf(parsed.type).namespaces(parsed, interfaces);

/** Calls inside a transaction that are judged as transactions of their own. */
export const batchedCalls = (parsed: ParsedTransaction): readonly ParsedTransaction[] =>
  formatOf(parsed.type).batched(parsed);

/**
 * What a transaction takes from its signer, for limits on amounts (docs/guides/velocity-controls.md): native coins, standard
 * transfers of tokens and approvals, in batches too. Beside these stands what moves assets, or hands over what holds them,
 * without an amount, and what nobody can read before it runs. Where a chain might read odd data as a transfer, it counts as
 * one: a limit must not be passed by an encoding.
 */
export const assetMovements = (parsed: ParsedTransaction, own: OwnContracts = NO_CONTRACTS): AssetMovements =>
  formatOf(parsed.type).movements(parsed, own);

/** Whether what a transaction takes depends on the contracts of the service. */
export const needsOwnContracts = (parsed: ParsedTransaction): boolean =>
  formatOf(parsed.type).needsOwnContracts(parsed);

/** The most that the signer may be charged for a transaction, as far as the transaction says. */
export const highestFees = (parsed: ParsedTransaction): readonly AssetFee[] =>
  formatOf(parsed.type)
    .fees(parsed)
    .filter(({ amount }) => amount !== 0n);
