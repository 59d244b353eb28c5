import type { CallResult, EvmCall, Hex } from '../../nodes/node.ts';

/** The same address on every chain where it is deployed. */
export const MULTICALL3: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11';

const ABI = [
  {
    type: 'function',
    name: 'aggregate3',
    stateMutability: 'payable',
    inputs: [
      {
        name: 'calls',
        type: 'tuple[]',
        components: [
          { name: 'target', type: 'address' },
          { name: 'allowFailure', type: 'bool' },
          { name: 'callData', type: 'bytes' },
        ],
      },
    ],
    outputs: [
      {
        name: 'returnData',
        type: 'tuple[]',
        components: [
          { name: 'success', type: 'bool' },
          { name: 'returnData', type: 'bytes' },
        ],
      },
    ],
  },
] as const;

const CALLS_MAX = 100;
const DATA_LENGTH_MAX = 128 * 1024;

type Call = (call: EvmCall) => Promise<CallResult>;

/** Many calls in few. Those that need a sender or a value are made alone, since a contract would be their sender. */
export async function callThroughMulticall(call: Call, calls: readonly EvmCall[]): Promise<readonly CallResult[]> {
  const results = new Array<CallResult>(calls.length);
  const alone: number[] = [];
  const chunks: number[][] = [];
  let length = 0;
  for (const [index, { from, value, data }] of calls.entries()) {
    if (from !== undefined || value !== undefined) {
      alone.push(index);
      continue;
    }
    const last = chunks.at(-1);
    length += data.length;
    if (last !== undefined && last.length < CALLS_MAX && length <= DATA_LENGTH_MAX) last.push(index);
    else {
      chunks.push([index]);
      length = data.length;
    }
  }
  const callAlone = async (index: number): Promise<void> => {
    results[index] = await call(calls[index] as EvmCall);
  };
  await Promise.all([
    ...alone.map(callAlone),
    ...chunks.map(async (chunk) => {
      const together = await aggregate(
        call,
        chunk.map((index) => calls[index] as EvmCall),
      );
      await Promise.all(
        chunk.map(async (index, position) => {
          const result = together?.[position];
          if (result === undefined) await callAlone(index);
          else results[index] = result;
        }),
      );
    }),
  ]);
  return results;
}

/**
 * Undefined in place of a result that has to be asked for alone. A call that fails without a word may have lacked the
 * gas that a call before it burnt, and one that returns too much takes all others with it: neither may decide what the
 * others are said to answer.
 */
async function aggregate(
  call: Call,
  calls: readonly EvmCall[],
): Promise<readonly (CallResult | undefined)[] | undefined> {
  // With the first use: it takes longer to load than most of the service.
  const { decodeFunctionResult, encodeFunctionData } = await import('viem/utils');
  const entries = calls.map(({ to, data }) => ({
    target: to.toLowerCase() as Hex,
    allowFailure: true,
    callData: data,
  }));
  const data = encodeFunctionData({ abi: ABI, functionName: 'aggregate3', args: [entries] });
  const answer = await call({ to: MULTICALL3, data });
  if (!answer.ok) return undefined;
  const results = decoded(() => decodeFunctionResult({ abi: ABI, functionName: 'aggregate3', data: answer.data }));
  if (results?.length !== calls.length) return undefined;
  return results.map(({ success, returnData }) => {
    if (success) return { ok: true, data: returnData };
    return returnData === '0x' ? undefined : { ok: false, message: 'execution reverted', data: returnData };
  });
}

function decoded<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
