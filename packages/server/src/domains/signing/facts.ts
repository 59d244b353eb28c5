import type { AssetMovements } from '../../chains/asset-types.ts';
import type { ContractInterface } from '../../chains/contract-interface-types.ts';
import { delegationParts, NO_CONTRACTS, type OwnContracts } from '../../chains/ethereum/call-movements.ts';
import { hashAuthorizationJson } from '../../chains/ethereum/eip7702.ts';
import { together } from '../../chains/movements.ts';
import { referenceOf } from '../../chains/networks.ts';
import type { PayloadEncoding } from '../../chains/payload.ts';
import { privateKeyFacts, walletAccountFacts, walletFacts } from '../../chains/policy-facts/keys.ts';
import {
  assetMovements,
  highestFees,
  interfacesNeeded,
  needsOwnContracts,
  type ParsedTransaction,
  transactionNamespaces,
} from '../../chains/transactions.ts';
import { treeRoot } from '../../core/model.ts';
import type { FactsContext, Movements } from '../../engine/define.ts';
import { groupBy } from '../../lib/collections.ts';
import type { Namespaces } from '../../policy/index.ts';
import { ContractInterfaceReader } from '../policies/store/contract-interfaces.ts';
import { FeeWrappers } from './fee-wrappers.ts';
import type { Signer } from './signer.ts';

/**
 * `wallet` and `wallet_account`, or `private_key`, as they were when the signer was found. A change that rules can see, or
 * that takes the signer away, raises the authority version, and the transaction decides again (docs/decisions/0001).
 */
export function signerFacts({ source }: Signer): Namespaces {
  if (source.kind === 'private-key') return { private_key: privateKeyFacts(source.key) };
  return { wallet: walletFacts(source.wallet), wallet_account: walletAccountFacts(source.account) };
}

/**
 * The interfaces that the acting organization, and no other, has for the contracts that are called
 * (protocol/policy-facts 5.1).
 */
export async function interfacesOf(
  { read, actor, interfaces }: FactsContext,
  transaction: ParsedTransaction,
): Promise<readonly ContractInterface[]> {
  const needed = groupBy(interfacesNeeded(transaction), ({ type }) => type);
  const found = await Promise.all(
    [...needed].map(([type, keys]) =>
      read(ContractInterfaceReader).ofAddresses(actor.organizationId, type, [
        ...new Set(keys.map(({ address }) => address)),
      ]),
    ),
  );
  return found
    .flat()
    .map(({ id, type, address, definition }) => interfaces.read({ id, type, address, text: definition }));
}

/** Whose limits a signature counts against. A private key belongs to no wallet. */
export const movementsOf = ({ source }: Signer, assets: AssetMovements): Movements => ({
  walletId: source.kind === 'wallet-account' ? source.account.walletId : undefined,
  ...assets,
});

/** What transactions take from their signer. Calls of the service's own contracts are read too. */
export async function transactionAssets(
  context: FactsContext,
  transactions: readonly ParsedTransaction[],
): Promise<AssetMovements> {
  const own = transactions.some(needsOwnContracts) ? await ownContracts(context) : NO_CONTRACTS;
  return together(transactions.map((parsed) => assetMovements(parsed, own)));
}

/** What a transaction takes, and the fee that its signer pays. */
export const signedAssets = async (context: FactsContext, parsed: ParsedTransaction): Promise<AssetMovements> => ({
  ...(await transactionAssets(context, [parsed])),
  fees: highestFees(parsed),
});

/** The signature of a payload can take everything, but only for an authorization is that known. */
export async function payloadAssets(
  context: FactsContext,
  encoding: PayloadEncoding,
  payloads: readonly string[],
): Promise<AssetMovements> {
  if (encoding === 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION') {
    const own = await ownContracts(context);
    const uncounted = payloads.flatMap((payload) =>
      delegationParts('the EIP-7702 authorization', hashAuthorizationJson(payload), own),
    );
    return { transfers: [], uncounted };
  }
  const name = encoding === 'PAYLOAD_ENCODING_EIP712' ? 'the typed data' : 'the raw payload';
  return { transfers: [], uncounted: [{ name, certainty: 'unknown', reach: [] }] };
}

/** Fee wrappers that the organization may use, and where CustosBatch is. */
async function ownContracts({ read, actor, config }: FactsContext): Promise<OwnContracts> {
  const wrappers = await read(FeeWrappers).wrappers(treeRoot(actor.organization));
  return {
    wrappers: wrappers.map(({ caip2, wrapperAddress, assetAddress }) => ({
      chainReference: referenceOf(caip2),
      wrapperAddress,
      assetAddress,
    })),
    batchContracts: [...config.chains.values()].flatMap(({ reference, batchContract }) =>
      batchContract === undefined ? [] : [{ chainReference: reference, address: batchContract.toLowerCase() }],
    ),
  };
}

/** One element for each transaction, with the signer's wallet or key where it is one of this organization's. */
export async function transactionFacts(
  context: FactsContext,
  signer: Signer | undefined,
  transactions: readonly ParsedTransaction[],
): Promise<Namespaces[]> {
  const target = signer && signerFacts(signer);
  return await Promise.all(
    transactions.map(async (parsed) => ({
      ...transactionNamespaces(parsed, await interfacesOf(context, parsed)),
      ...target,
    })),
  );
}
