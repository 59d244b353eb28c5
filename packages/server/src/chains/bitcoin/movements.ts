import type { AssetMovements } from '../asset-types.ts';
import type { ParsedBitcoin } from './parsed.ts';

/**
 * What the signed inputs are worth beyond what comes back to the account that signs them: payments and the fee. Calls that
 * sign the inputs of different accounts subtract different outputs, so together they count at least what leaves.
 */
export function bitcoinMovements({ transaction: tx, signedScript, ownScripts }: ParsedBitcoin): AssetMovements {
  const spent = tx.inputs.filter(({ scriptPubkey }) => scriptPubkey === signedScript);
  const returned = tx.outputs.filter(({ scriptPubkey }) => ownScripts.has(scriptPubkey));
  const amount =
    spent.reduce((sum, input) => sum + input.amount, 0n) - returned.reduce((sum, { value }) => sum + value, 0n);
  const coin = { chain: 'bip122', chainReference: undefined, kind: 'slip44', assetReference: '0' } as const;
  return { transfers: amount > 0n ? [{ ...coin, amount }] : [], uncounted: [] };
}
