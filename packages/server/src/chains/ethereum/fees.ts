import type { AssetFee } from '../asset-types.ts';
import { TEMPO_CHAIN_IDS, tokenFee } from '../tempo/fee-token.ts';
import type { EthereumTransaction } from './transaction.ts';

/** EIP-4844. */
const GAS_PER_BLOB = 131_072n;

/** Fees that a rollup takes for its data are not in a transaction. */
export function ethereumFees(transaction: EthereumTransaction): readonly AssetFee[] {
  const { chainId, gas, maxFeePerGas, maxFeePerBlobGas, blobVersionedHashes } = transaction;
  const blobGas = BigInt(blobVersionedHashes.length) * GAS_PER_BLOB;
  const amount = gas * maxFeePerGas + blobGas * maxFeePerBlobGas;
  // Without replay protection the signature is good on every chain.
  const tempo = TEMPO_CHAIN_IDS.filter((id) => chainId === 0n || id === chainId);
  return [coinFee(chainId, amount), ...tempo.map((id) => tokenFee(id, undefined, amount))];
}

/** In the coin of an EVM chain. */
export const coinFee = (chainId: bigint, amount: bigint | undefined): AssetFee => ({
  chain: 'eip155',
  chainReference: chainId === 0n ? undefined : String(chainId),
  kind: 'slip44',
  assetReference: '60',
  amount,
});
