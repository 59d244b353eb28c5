import { highestFee } from '../../chains/solana/fee.ts';
import type { ParsedTransaction } from '../transaction.ts';
import type { AssetFee } from './caip19.ts';

/** EIP-4844. */
const GAS_PER_BLOB = 131_072n;
/** Tempo, and its test network: fees are paid in a token, whatever the type of the transaction. */
const TEMPO_CHAIN_IDS = [4217n, 42431n];
/** Prices of gas on Tempo are in 10^-18 dollars, fee tokens in 10^-6. */
const ATTODOLLARS_PER_UNIT = 10n ** 12n;

/**
 * The most that the signer may be charged for a transaction, as far as the transaction says: fees that a rollup takes for
 * its data, and Tron for bandwidth, are not in it. On Bitcoin the fee is part of what leaves.
 */
export function highestFees(parsed: ParsedTransaction): readonly AssetFee[] {
  return feesOf(parsed).filter(({ amount }) => amount !== 0n);
}

function feesOf(parsed: ParsedTransaction): readonly AssetFee[] {
  switch (parsed.type) {
    case 'TRANSACTION_TYPE_ETHEREUM': {
      const { chainId, gas, maxFeePerGas, maxFeePerBlobGas, blobVersionedHashes } = parsed.transaction;
      const blobGas = BigInt(blobVersionedHashes.length) * GAS_PER_BLOB;
      const amount = gas * maxFeePerGas + blobGas * maxFeePerBlobGas;
      // Without replay protection the signature is good on every chain.
      const tempo = TEMPO_CHAIN_IDS.filter((id) => chainId === 0n || id === chainId);
      return [coinFee(chainId, amount), ...tempo.map((id) => tokenFee(id, undefined, amount))];
    }
    case 'TRANSACTION_TYPE_TEMPO': {
      const { chainId, gasLimit, maxFeePerGas, feePayer, feeToken } = parsed.transaction;
      if (feePayer.kind !== 'sender') return [];
      // The account's own choice, or that of its calls, where the transaction names none.
      return [tokenFee(chainId, feeToken === '' ? undefined : feeToken, gasLimit * maxFeePerGas)];
    }
    case 'TRANSACTION_TYPE_SOLANA': {
      const { transaction, signer } = parsed;
      if (transaction.accountKeys[0] !== signer) return [];
      const amount = highestFee(transaction);
      return [{ chain: 'solana', chainReference: undefined, kind: 'slip44', assetReference: '501', amount }];
    }
    case 'TRANSACTION_TYPE_TRON': {
      const { contract, feeLimit: amount } = parsed.transaction;
      if (contract[0].type !== 'TriggerSmartContract') return [];
      return [{ chain: 'tron', chainReference: undefined, kind: 'slip44', assetReference: '195', amount }];
    }
    case 'TRANSACTION_TYPE_BITCOIN':
      return [];
  }
}

/** In the coin of an EVM chain. */
export const coinFee = (chainId: bigint, amount: bigint | undefined): AssetFee => ({
  chain: 'eip155',
  chainReference: chainId === 0n ? undefined : String(chainId),
  kind: 'slip44',
  assetReference: '60',
  amount,
});

const tokenFee = (chainId: bigint, token: string | undefined, attodollars: bigint): AssetFee => ({
  chain: 'eip155',
  chainReference: String(chainId),
  kind: 'erc20',
  assetReference: token,
  amount: (attodollars + ATTODOLLARS_PER_UNIT - 1n) / ATTODOLLARS_PER_UNIT,
});
