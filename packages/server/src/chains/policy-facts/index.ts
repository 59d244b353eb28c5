/**
 * What policies see of a request, read by the very code that the server reads it with: for tests of policies, which run
 * without a server.
 */

export { namespacesOf, paramsOf } from '../../policy/catalog/activity-facts.ts';
export { CONDITION_ROOTS } from '../../policy/language/structs.ts';
export { fieldOf, type StructType, type Type } from '../../policy/language/types.ts';
export { CONTRACT_INTERFACE_TYPES, checkContractInterface } from '../contract-interface.ts';
export type { ContractInterface } from '../contract-interface-types.ts';
export { ethereumAddress } from '../ethereum/address.ts';
export {
  HASH_FUNCTIONS,
  type HashFunction,
  PAYLOAD_ENCODINGS,
  type PayloadEncoding,
  signingInput,
} from '../payload.ts';
export { payloadNamespaces } from '../payload-facts.ts';
export type { SignerAccount } from '../signable.ts';
export {
  readTransaction,
  signableOf,
  TRANSACTION_TYPES,
  type TransactionType,
  transactionNamespaces,
} from '../transactions.ts';
export { privateKeyFacts, walletAccountFacts, walletFacts } from './keys.ts';
