import { decodeFunctionData, encodeFunctionResult, type Hex, parseAbi, toFunctionSelector } from 'viem';
import type { StubCall } from './stub-node.ts';

/** What a function answers: one value, or a list of several. */
type Answer = unknown | ((...args: never[]) => unknown);

/** A contract of a stub node: functions as Solidity declares them, without `function` and `view`, and their answers. */
export function stubContract(functions: Readonly<Record<string, Answer>>): (call: StubCall) => Hex | undefined {
  const served = new Map(
    Object.entries(functions).map(([signature, answer]) => {
      const abi = parseAbi([`function ${signature.replace(' returns', ' view returns')}` as string]) as ReturnType<
        typeof parseAbi
      >;
      const [item] = abi;
      if (item?.type !== 'function') throw new Error(`${signature} is no function`);
      return [toFunctionSelector(item), { abi, item, answer }] as const;
    }),
  );
  return ({ data }) => {
    const found = served.get(data.slice(0, 10) as Hex);
    if (found === undefined) return undefined;
    const { abi, item, answer } = found;
    const { args = [] } = decodeFunctionData({ abi, data });
    const result = typeof answer === 'function' ? answer(...(args as never[])) : answer;
    return encodeFunctionResult({ abi, functionName: item.name, result });
  };
}

/** A token, with the views that lists read. */
export const stubToken = (symbol: string, decimals: number, balances: Readonly<Record<string, bigint>> = {}) =>
  stubContract({
    'symbol() returns (string)': symbol,
    'name() returns (string)': `The token ${symbol}`,
    'decimals() returns (uint8)': decimals,
    'balanceOf(address) returns (uint256)': (holder: string) => balances[holder.toLowerCase()] ?? 0n,
  });
