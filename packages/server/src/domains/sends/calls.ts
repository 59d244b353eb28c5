import type { AssetFee } from '../../chains/asset-types.ts';
import { ethereumAddress } from '../../chains/ethereum/address.ts';
import { coinFee } from '../../chains/ethereum/fees.ts';
import type { EthereumTransaction } from '../../chains/ethereum/transaction.ts';
import type { SendCall } from '../../chains/send/model.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { ParsedTransaction } from '../../chains/transactions.ts';
import type { DescribeContext, FactsContext, Movements } from '../../engine/define.ts';
import { ApiError } from '../../lib/errors.ts';
import { movementsOf, transactionAssets } from '../signing/facts.ts';
import { findSigner, type Signer } from '../signing/signer.ts';

/** What the caller fixed of a transaction besides its calls; what is left open is 0 for whoever judges it. */
export interface CallTerms {
  readonly nonce?: number;
  readonly gasLimit?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
}

/**
 * The key behind an address of an EVM chain. An id does not do: the address is what appears on the chain
 * (protocol/earn 1.4).
 */
export async function resolveSender(context: DescribeContext, address: string, field: string): Promise<Signer> {
  const signer = await findSigner(context, address);
  if (signer === undefined) {
    throw new ApiError('RESOURCE_NOT_FOUND', `${field} is not an address of a key in this organization`);
  }
  const { curve, publicKey } = signer.account;
  if (curve !== 'CURVE_SECP256K1' || ethereumAddress(publicKey) !== address.toLowerCase()) {
    throw new ApiError('REQUEST_INVALID', `${field} must be the Ethereum address of an account or key`);
  }
  return signer;
}

/** The calls of a send as whoever judges sees them: a transaction each (protocol/policy-facts 4.3). */
export function transactionsOf(
  { reference }: ChainSettings,
  from: string,
  calls: readonly SendCall[],
  terms: CallTerms = {},
): ParsedTransaction[] {
  const { nonce = 0, gasLimit = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = terms;
  return calls.map(({ to, value, data }): ParsedTransaction => {
    const transaction: EthereumTransaction = {
      type: 'TYPE_2',
      chainId: BigInt(reference),
      nonce: BigInt(nonce),
      to,
      value: BigInt(value),
      data,
      selector: data.length >= 10 ? data.slice(0, 10) : '',
      gas: gasLimit,
      gasPrice: maxFeePerGas,
      maxFeePerGas,
      maxPriorityFeePerGas,
      maxFeePerBlobGas: 0n,
      accessList: [],
      blobVersionedHashes: [],
      authorizationList: [],
    };
    return { type: 'TRANSACTION_TYPE_ETHEREUM', transaction, from: from.toLowerCase() };
  });
}

/**
 * The fee as far as the sender fixes it; open where a price comes without a gas limit. A price that the service takes from
 * a node is not the sender's to choose.
 */
export function termsFees({ reference }: ChainSettings, { gasLimit, maxFeePerGas }: CallTerms): readonly AssetFee[] {
  if (maxFeePerGas === undefined) return [];
  return [coinFee(BigInt(reference), gasLimit === undefined ? undefined : gasLimit * maxFeePerGas)];
}

/** Signed and sent: controls on either phase count it, each once. */
export const transactionMovements = async (
  context: FactsContext,
  signer: Signer,
  transactions: readonly ParsedTransaction[],
  fees: readonly AssetFee[] = [],
): Promise<Movements> => ({
  ...movementsOf(signer, { ...(await transactionAssets(context, transactions)), fees }),
  phases: ['signature', 'submission'],
});
