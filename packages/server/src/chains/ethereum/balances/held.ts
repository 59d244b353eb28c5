import { encodeFunctionData, erc20Abi } from 'viem';
import { nativeAsset, tokenAssets } from '../../assets.ts';
import type { Balance } from '../../chain.ts';
import type { EvmNode, Hex } from '../../nodes/node.ts';

/** What a token answers is at least one word; some answer more. */
const WORD_LENGTH = 2 + 64;

export async function ethereumBalances(node: EvmNode, address: Hex): Promise<Balance[]> {
  const tokens = [...tokenAssets(node.chain)];
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] });
  const [native, answers] = await Promise.all([
    node.balance(address),
    node.callMany(tokens.map(([token]) => ({ to: token as Hex, data }))),
  ]);
  const held = tokens.flatMap(([, asset], index) => {
    const answer = answers[index];
    // Where there is no contract, or one that is no token, the address holds none of it.
    const word = answer?.ok === true && answer.data.length >= WORD_LENGTH ? answer.data.slice(0, WORD_LENGTH) : '0x0';
    return [{ asset, amount: BigInt(word) }];
  });
  return [{ asset: nativeAsset(node.chain), amount: native }, ...held.filter(({ amount }) => amount > 0n)];
}
