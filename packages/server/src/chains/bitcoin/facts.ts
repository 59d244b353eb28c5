import type { BitcoinTransactionFacts } from '../../policy/index.ts';
import type { BitcoinTransaction } from './bitcoin.ts';

/** `bitcoin.tx`. */
export function bitcoinFacts(tx: BitcoinTransaction): BitcoinTransactionFacts {
  return {
    version: String(tx.version),
    inputs: tx.inputs.map(({ txid, vout, sequence }) => ({
      tx_id: txid,
      vout: BigInt(vout),
      sequence: BigInt(sequence),
    })),
    outputs: tx.outputs.map(({ value, scriptPubkey, address, addressType }) => ({
      value,
      script_pubkey: scriptPubkey,
      address,
      address_type: addressType,
    })),
    locktime: { amount: BigInt(tx.lockTime.amount), type: tx.lockTime.type },
    fee: tx.fee,
  };
}
