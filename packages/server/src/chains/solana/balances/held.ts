import { nativeAsset, tokenAssets } from '../../assets.ts';
import type { Balance } from '../../chain.ts';
import type { SolanaNode } from '../../nodes/node.ts';

export async function solanaBalances(node: SolanaNode, address: string): Promise<Balance[]> {
  const tokens = tokenAssets(node.chain);
  const [native, held] = await Promise.all([node.balance(address), node.tokenBalances(address)]);
  const known = held.flatMap(({ mint, amount, tokenProgram }) => {
    const asset = tokens.get(mint);
    return asset === undefined || amount === 0n ? [] : [{ asset, amount, tokenProgram }];
  });
  return [{ asset: nativeAsset(node.chain), amount: native }, ...known];
}
