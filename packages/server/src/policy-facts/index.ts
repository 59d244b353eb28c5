/**
 * What policies see of a request, read by the very code that the server reads it with: for tests of policies, which run
 * without a server.
 */
export {
  HASH_FUNCTIONS,
  type HashFunction,
  PAYLOAD_ENCODINGS,
  type PayloadEncoding,
  signingInput,
} from '../chains/payload.ts';
export type { SignerAccount } from '../chains/signable.ts';
export { signableOf, TRANSACTION_TYPES, type TransactionType } from '../chains/transactions.ts';
export { namespacesOf, paramsOf } from '../policy/catalog/activity-facts.ts';
export { CONDITION_ROOTS } from '../policy/language/structs.ts';
export { fieldOf, type StructType, type Type } from '../policy/language/types.ts';
export { CONTRACT_INTERFACE_TYPES, type ContractInterface, checkContractInterface } from './contract-interface.ts';
export { ethereumAddress } from './ethereum.ts';
export { privateKeyFacts, walletAccountFacts, walletFacts } from './keys.ts';
export { payloadNamespaces, readTransaction, transactionNamespaces } from './transaction.ts';
