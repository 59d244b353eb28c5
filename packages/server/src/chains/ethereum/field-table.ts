import type { EthereumTransactionFacts } from '../../policy/index.ts';
import type { FieldTable } from '../field-table.ts';
import type { EthereumTransaction, EthereumTransactionType } from './transaction.ts';

const COMMON = {
  type: { policy: 'type' },
  chainId: { policy: 'chain_id' },
  nonce: { policy: 'nonce' },
  to: { policy: 'to' },
  value: { policy: 'value' },
  data: { policy: 'data' },
  selector: { derivedFrom: ['data'] },
  gas: { policy: 'gas' },
  gasPrice: { policy: 'gas_price' },
  maxFeePerGas: { policy: 'max_fee_per_gas' },
  maxPriorityFeePerGas: { policy: 'max_priority_fee_per_gas' },
} as const;

const LEGACY = {
  ...COMMON,
  maxFeePerBlobGas: { absent: true },
  accessList: { absent: true },
  blobVersionedHashes: { absent: true },
  authorizationList: { absent: true },
} as const;

const WITH_ACCESS_LIST = {
  ...LEGACY,
  accessList: { neither: 'it changes what gas costs, within the gas that policies see, and nothing that is done' },
} as const;

export const ETHEREUM_FIELDS = {
  LEGACY,
  TYPE_1: WITH_ACCESS_LIST,
  TYPE_2: WITH_ACCESS_LIST,
  TYPE_3: {
    ...WITH_ACCESS_LIST,
    maxFeePerBlobGas: { policy: 'max_fee_per_blob_gas' },
    blobVersionedHashes: { velocity: 'a fee for each blob; what blobs hold is data, and nothing that is done' },
  },
  TYPE_4: {
    ...WITH_ACCESS_LIST,
    authorizationList: { velocity: 'an entry of the signer hands its account over; each is signed by its own account' },
  },
} as const satisfies Record<EthereumTransactionType, FieldTable<EthereumTransaction, EthereumTransactionFacts>>;
