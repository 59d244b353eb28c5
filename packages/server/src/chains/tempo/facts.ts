import type { TempoTransactionFacts } from '../../policy/index.ts';
import type { TempoTransaction } from './transaction.ts';

/** `tempo.tx`. */
export function tempoFacts(tx: TempoTransaction, from: string): TempoTransactionFacts {
  return {
    chain_id: tx.chainId,
    from: from.toLowerCase(),
    nonce: tx.nonce,
    gas_limit: tx.gasLimit,
    max_fee_per_gas: tx.maxFeePerGas,
    max_priority_fee_per_gas: tx.maxPriorityFeePerGas,
    fee_token: tx.feeToken,
    valid_before: tx.validBefore,
    valid_after: tx.validAfter,
    calls: tx.calls.map(({ to, input, selector }) => ({ to, input, function_signature: selector })),
  };
}
