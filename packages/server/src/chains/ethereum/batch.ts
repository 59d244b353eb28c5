import { decodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils';
import { ApiError } from '../../lib/errors.ts';
import { custosBatchAbi } from './contract-artifacts.ts';
import { selectorOf } from './fields.ts';

/** A call of an EVM chain, or of Tempo. Hex is lower case with 0x. */
export interface EvmCall {
  /** The empty string for a contract creation. */
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

/** What an account that has borrowed the code of CustosBatch answers to when it calls itself. */
const RUN = [getAbiItem({ abi: custosBatchAbi, name: 'run' })] as const;
const RUN_SIGNED = [getAbiItem({ abi: custosBatchAbi, name: 'runSigned' })] as const;
const RUN_SELECTOR = toFunctionSelector(RUN[0]);
const RUN_SIGNED_SELECTOR = toFunctionSelector(RUN_SIGNED[0]);
const DEPTH_MAX = 4;
const CALLS_MAX = 1000;

/**
 * The calls inside a batch that an account runs by calling itself: whoever judges or counts must see them, whether the
 * account has the code already or not. A batch that cannot be read is refused.
 */
export const batchedCalls = (from: string, call: EvmCall): readonly EvmCall[] => inner(from, call, DEPTH_MAX);

/** A call, or in the place of a batch the calls that are in it. */
export function unbatched(from: string, call: EvmCall): readonly EvmCall[] {
  return [call, ...batchedCalls(from, call)].filter((one) => !isBatch(from, one));
}

function isBatch(from: string, { to, data }: EvmCall): boolean {
  const selector = selectorOf(data);
  return to === from && (selector === RUN_SELECTOR || selector === RUN_SIGNED_SELECTOR);
}

/** Batches that are among the calls of a batch stand before theirs. */
function inner(from: string, batch: EvmCall, depth: number): readonly EvmCall[] {
  if (!isBatch(from, batch)) return [];
  if (depth === 0) throw unreadable('is in itself too often');
  const calls = read(batch.data);
  if (calls.length > CALLS_MAX) throw unreadable(`has more than ${CALLS_MAX} calls`);
  return calls.flatMap(({ to, value, data }) => {
    const call = { to: to.toLowerCase(), value, data };
    return [call, ...inner(from, call, depth - 1)];
  });
}

function read(data: string) {
  try {
    return selectorOf(data) === RUN_SELECTOR
      ? decodeFunctionData({ abi: RUN, data: data as `0x${string}` }).args[0]
      : decodeFunctionData({ abi: RUN_SIGNED, data: data as `0x${string}` }).args[2];
  } catch {
    throw unreadable('cannot be read');
  }
}

const unreadable = (why: string): ApiError =>
  new ApiError('INVALID_TRANSACTION', `failed to parse transaction: the batch that the account runs ${why}`);
