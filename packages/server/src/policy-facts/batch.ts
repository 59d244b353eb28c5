import { decodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils';
import { custosBatchAbi } from '../contracts/artifacts.ts';
import { ApiError } from '../lib/errors.ts';
import type { ParsedTransaction } from './transaction.ts';

type EthereumParsed = Extract<ParsedTransaction, { readonly type: 'TRANSACTION_TYPE_ETHEREUM' }>;

/** What an account that has borrowed the code of CustosBatch answers to when it calls itself. */
const RUN = [getAbiItem({ abi: custosBatchAbi, name: 'run' })] as const;
const RUN_SELECTOR = toFunctionSelector(RUN[0]);
const DEPTH_MAX = 4;
const CALLS_MAX = 1000;

/**
 * The calls inside a batch that an account runs by calling itself, as transactions of their own: whoever judges or counts
 * must see them, whether the account has the code already or not. A batch that cannot be read is refused.
 */
export function batchedCalls(parsed: ParsedTransaction): readonly ParsedTransaction[] {
  return parsed.type === 'TRANSACTION_TYPE_ETHEREUM' ? inner(parsed, DEPTH_MAX) : [];
}

function inner(parsed: EthereumParsed, depth: number): readonly ParsedTransaction[] {
  const { to, data, selector } = parsed.transaction;
  if (to !== parsed.from || selector !== RUN_SELECTOR) return [];
  if (depth === 0) throw unreadable('is in itself too often');
  const calls = read(data);
  if (calls.length > CALLS_MAX) throw unreadable(`has more than ${CALLS_MAX} calls`);
  return calls.flatMap((call): readonly ParsedTransaction[] => {
    const address = call.to.toLowerCase();
    const one: EthereumParsed = {
      ...parsed,
      transaction: {
        ...parsed.transaction,
        to: address,
        value: call.value,
        data: call.data,
        selector: call.data.length >= 10 ? call.data.slice(0, 10) : '',
      },
    };
    return [one, ...inner(one, depth - 1)];
  });
}

function read(data: string) {
  try {
    return decodeFunctionData({ abi: RUN, data: data as `0x${string}` }).args[0];
  } catch {
    throw unreadable('cannot be read');
  }
}

const unreadable = (why: string): ApiError =>
  new ApiError('INVALID_TRANSACTION', `failed to parse transaction: the batch that the account runs ${why}`);
