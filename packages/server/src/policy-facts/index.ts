/**
 * What policies see of a request, read by the very code that the server reads it with: for tests of policies, which run
 * without a server.
 */

export {
  CONTRACT_INTERFACE_TYPES,
  type ContractInterface,
  checkContractInterface,
} from '../chains/contract-interface.ts';
export { ethereumAddress } from '../chains/ethereum/address.ts';
export {
  HASH_FUNCTIONS,
  type HashFunction,
  PAYLOAD_ENCODINGS,
  type PayloadEncoding,
  signingInput,
} from '../chains/payload.ts';
export { payloadNamespaces } from '../chains/payload-facts.ts';
export type { SignerAccount } from '../chains/signable.ts';
export {
  readTransaction,
  signableOf,
  TRANSACTION_TYPES,
  type TransactionType,
  transactionNamespaces,
} from '../chains/transactions.ts';
export { namespacesOf, paramsOf } from '../policy/catalog/activity-facts.ts';
export { CONDITION_ROOTS } from '../policy/language/structs.ts';
export { fieldOf, type StructType, type Type } from '../policy/language/types.ts';
export { privateKeyFacts, walletAccountFacts, walletFacts } from './keys.ts';
