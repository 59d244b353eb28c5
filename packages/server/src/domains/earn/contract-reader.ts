import type { Abi, AbiFunction } from 'viem';
import type { EvmNode, Hex } from '../../chains/nodes/node.ts';
import { chunks } from '../../lib/collections.ts';

/** A function of contracts that only reads; several values come as a list. */
export interface View<Args extends readonly unknown[], Value> {
  /** As Solidity declares it. */
  readonly signature: string;
  /** Only for the compiler. */
  readonly types?: (...args: Args) => Value;
}

export const view = <Args extends readonly unknown[], Value>(signature: string): View<Args, Value> => ({ signature });

/** Reads contracts as they are now. What contracts say is untrusted: callers bound what they take from it. */
export interface ContractReader {
  /**
   * Undefined where there is no such function, where it reverts, or where the answer is of another kind. Questions that
   * are asked at the same time go to the node together, and a question that was asked before has its answer.
   */
  read<Args extends readonly unknown[], Value>(
    view: View<Args, Value>,
    contract: string,
    ...args: Args
  ): Promise<Value | undefined>;
  /**
   * The same one for somebody who asks what strangers make up: beyond so many questions that nobody asked before, it
   * reads undefined.
   */
  within(questionsMax: number): ContractReader;
}

interface Question {
  readonly to: Hex;
  readonly data: Hex;
  readonly settle: (data: Hex | undefined) => void;
  readonly fail: (error: unknown) => void;
}

const CALLS_PER_REQUEST = 1000;
type Utils = typeof import('viem/utils');
interface Prepared {
  readonly abi: Abi;
  /** In place of the name, which would be hashed. */
  readonly functionName: Hex;
}
/** By signature: to hash it for every question would take most of the time. */
const prepared = new Map<string, Prepared>();
let utils: Utils | undefined;

async function prepare(signature: string): Promise<Prepared & { readonly utils: Utils }> {
  // With the first use: it takes longer to load than most of the service.
  utils ??= await import('viem/utils');
  let known = prepared.get(signature);
  if (known === undefined) {
    const abi: Abi = utils.parseAbi([signature]);
    known = { abi, functionName: utils.toFunctionSelector(abi[0] as AbiFunction) };
    prepared.set(signature, known);
  }
  return { ...known, utils };
}

export async function encodeRead<Args extends readonly unknown[], Value>(
  { signature }: View<Args, Value>,
  args: Args,
): Promise<Hex> {
  const { utils, abi, functionName } = await prepare(signature);
  return utils.encodeFunctionData({ abi, functionName, args });
}

/** Undefined where the answer is of another kind. */
export async function decodeRead<Args extends readonly unknown[], Value>(
  { signature }: View<Args, Value>,
  data: Hex | undefined,
): Promise<Value | undefined> {
  if (data === undefined || data === '0x') return undefined;
  const { utils, abi } = await prepare(signature);
  try {
    return utils.decodeFunctionResult({ abi, data }) as Value;
  } catch {
    return undefined;
  }
}

/** One for each time that something is read: it remembers all answers. */
export function createContractReader(node: EvmNode): ContractReader {
  const answers = new Map<string, Promise<unknown>>();
  let waiting: Question[] = [];

  async function flush(): Promise<void> {
    const asked = waiting;
    waiting = [];
    for (const some of chunks(asked, CALLS_PER_REQUEST)) {
      try {
        const results = await node.callMany(some.map(({ to, data }) => ({ to, data })));
        for (const [index, { settle }] of some.entries()) {
          const result = results[index];
          settle(result?.ok === true ? result.data : undefined);
        }
      } catch (error) {
        for (const { fail } of some) fail(error);
      }
    }
  }

  function ask(to: Hex, data: Hex): Promise<Hex | undefined> {
    return new Promise((settle, fail) => {
      // Whoever was answered together asks again together, so that the next request is one too.
      if (waiting.length === 0) setImmediate(() => void flush());
      waiting.push({ to, data, settle, fail });
    });
  }

  const readerOf = (mayAsk: () => boolean): ContractReader => ({
    async read(view, contract, ...args) {
      const to = contract.toLowerCase() as Hex;
      const data = await encodeRead(view, args);
      const key = `${to} ${data} ${view.signature}`;
      const known = answers.get(key) as ReturnType<typeof decodeRead<typeof args, never>> | undefined;
      if (known !== undefined) return await known;
      // It is no answer, and others may still ask.
      if (!mayAsk()) return undefined;
      const answer = ask(to, data).then((found) => decodeRead(view, found));
      answers.set(key, answer);
      return await answer;
    },
    within(questionsMax) {
      let left = questionsMax;
      return readerOf(() => {
        left -= 1;
        return left >= 0 && mayAsk();
      });
    },
  });

  return readerOf(() => true);
}
