import type { ChainFormat, TransactionFormat } from '../chain.ts';
import type { ContractInterface } from '../contract-interface-types.ts';
import { fitAccount } from '../signable.ts';
import { evmAssets } from './assets.ts';
import { batchedCalls } from './batch.ts';
import { ethereumFacts } from './facts.ts';
import { ethereumFees } from './fees.ts';
import { ETHEREUM_FIELDS } from './field-table.ts';
import { selectorOf } from './fields.ts';
import { ethereumInterfaces } from './interface.ts';
import { ethereumMovements, mayCallWrappers } from './movements.ts';
import { ethereumNetwork } from './network.ts';
import { type ParsedEthereum, senderOf } from './parsed.ts';
import { parseEthereumTransaction, signableEthereum } from './transaction.ts';

const transactions: TransactionFormat<ParsedEthereum> = {
  type: 'TRANSACTION_TYPE_ETHEREUM',
  fields: ETHEREUM_FIELDS,
  fit: fitAccount(signableEthereum),
  read: (unsigned, signer) => ({
    type: 'TRANSACTION_TYPE_ETHEREUM',
    transaction: parseEthereumTransaction(unsigned),
    from: senderOf(signer),
  }),
  interfacesNeeded: ({ transaction: { to, selector } }) =>
    to === '' || selector === '' ? [] : [{ type: ethereumInterfaces.type, address: to }],
  namespaces: ({ transaction, from }, interfaces) => ({
    eth: { tx: ethereumFacts(transaction, from, interfaceOf(transaction.to, interfaces)) },
  }),
  batched: (parsed) =>
    batchedCalls(parsed.from, [parsed.transaction]).map((call) => ({
      ...parsed,
      transaction: { ...parsed.transaction, ...call, selector: selectorOf(call.data) },
    })),
  movements: ({ transaction, from }, own) => ethereumMovements(transaction, from, own),
  needsOwnContracts: ({ transaction, from }) =>
    transaction.authorizationList.length > 0 || mayCallWrappers(from, [transaction]),
  fees: ({ transaction }) => ethereumFees(transaction),
};

const interfaceOf = (contract: string, interfaces: readonly ContractInterface[]) =>
  interfaces.filter((known) => known.type === ethereumInterfaces.type).find(({ address }) => address === contract);

export const ethereumFormat = {
  namespace: 'eip155',
  assets: evmAssets,
  transactions,
  interfaces: ethereumInterfaces,
  network: ethereumNetwork,
} as const satisfies ChainFormat;
