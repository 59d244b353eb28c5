import type { TempoTransactionFacts } from '../../policy/index.ts';
import type { FieldTable } from '../field-table.ts';
import type { TempoTransaction } from './transaction.ts';

export const TEMPO_FIELDS = {
  TEMPO: {
    chainId: { policy: 'chain_id' },
    maxPriorityFeePerGas: { policy: 'max_priority_fee_per_gas' },
    maxFeePerGas: { policy: 'max_fee_per_gas' },
    gasLimit: { policy: 'gas_limit' },
    calls: {
      policy: 'calls',
      each: {
        to: { policy: 'to' },
        value: { velocity: 'a transfer of the native coin' },
        input: { policy: 'input' },
        selector: { policy: 'function_signature' },
      },
    },
    accessList: { neither: 'it changes what gas costs, within the gas that policies see, and nothing that is done' },
    nonceKey: { neither: 'it says in which of its queues of nonces an account sends, and nothing that is done' },
    nonce: { policy: 'nonce' },
    validBefore: { policy: 'valid_before' },
    validAfter: { policy: 'valid_after' },
    feeToken: { policy: 'fee_token' },
    feePayer: { velocity: 'the fee is the sender’s only where nobody else pays it' },
    authorizationList: { velocity: 'an entry of the signer hands its account over; each is signed by its own account' },
    keyAuthorization: { velocity: 'it hands the account over; it has a signature of its own by the account' },
  },
} as const satisfies Record<string, FieldTable<TempoTransaction, TempoTransactionFacts>>;
