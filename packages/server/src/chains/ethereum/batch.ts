import { getAbiItem, toFunctionSelector } from 'viem/utils';
import { ApiError } from '../../lib/errors.ts';
import { once } from '../../lib/once.ts';
import type { DynamicValue } from '../../policy/index.ts';
import { decodeAbi } from './abi/decode.ts';
import { type AbiType, readAbiType } from './abi/types.ts';
import { custosBatchAbi } from './contract-artifacts.ts';
import { selectorOf } from './fields.ts';

/** A call of an EVM chain, or of Tempo. Hex is lower case with 0x. */
export interface EvmCall {
  /** The empty string for a contract creation. */
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

const typesOf = (...names: readonly string[]): readonly AbiType[] =>
  names.map((type) => readAbiType({ type, name: '', components: CALL_FIELDS }, 'the batch contract').type);
const CALL_FIELDS = ['address', 'uint256', 'bytes'].map((type) => ({ type, name: '' }));

/** What an account that has borrowed the code of CustosBatch answers to when it calls itself. */
const runSelector = once(() => toFunctionSelector(getAbiItem({ abi: custosBatchAbi, name: 'run' })));
const runSignedSelector = once(() => toFunctionSelector(getAbiItem({ abi: custosBatchAbi, name: 'runSigned' })));
const DEPTH_MAX = 4;
/** Of one transaction, in all of its batches together: batches in a batch multiply. */
export const CALLS_MAX = 1000;

/**
 * The calls inside the batches that an account runs by calling itself: whoever judges or counts must see them, whether the
 * account has the code already or not. A batch that cannot be read is refused, and so are more calls than anybody can
 * judge in the calls of one transaction.
 */
export function batchedCalls(from: string, calls: readonly EvmCall[]): readonly EvmCall[] {
  const budget = { left: CALLS_MAX };
  return calls.flatMap((call) => inner(from, call, DEPTH_MAX, budget));
}

/** The calls of a transaction, with those that are in a batch in its place. */
export function unbatched(from: string, calls: readonly EvmCall[]): readonly EvmCall[] {
  const budget = { left: CALLS_MAX };
  return calls.flatMap((call) => [call, ...inner(from, call, DEPTH_MAX, budget)]).filter((one) => !isBatch(from, one));
}

function isBatch(from: string, { to, data }: EvmCall): boolean {
  if (to !== from) return false;
  const selector = selectorOf(data);
  return selector === runSelector() || selector === runSignedSelector();
}

/** Batches that are among the calls of a batch stand before theirs. */
function inner(from: string, batch: EvmCall, depth: number, budget: { left: number }): readonly EvmCall[] {
  if (!isBatch(from, batch)) return [];
  if (depth === 0) throw unreadable('is in itself too often');
  const calls = read(batch.data);
  budget.left -= calls.length;
  if (budget.left < 0) throw unreadable(`has more than ${CALLS_MAX} calls`);
  return calls.flatMap((call) => [call, ...inner(from, call, depth - 1, budget)]);
}

const RUN_TYPES = typesOf('tuple[]');
const RUN_SIGNED_TYPES = typesOf('uint256', 'uint256', 'tuple[]', 'bytes');

/** In its one encoding: offsets that share their target would make much of little data. */
function read(data: string): readonly EvmCall[] {
  const isRun = selectorOf(data) === runSelector();
  const values = decodeAbi(isRun ? RUN_TYPES : RUN_SIGNED_TYPES, Buffer.from(data.slice(10), 'hex'));
  if (values === undefined) throw unreadable('cannot be read');
  return (values[isRun ? 0 : 2] as readonly DynamicValue[]).map((call) => {
    const [to, value, bytes] = (call as { readonly items: readonly DynamicValue[] }).items;
    return {
      to: (to as { readonly text: string }).text,
      value: (value as { readonly value: bigint }).value,
      data: (bytes as { readonly text: string }).text,
    };
  });
}

const unreadable = (why: string): ApiError =>
  new ApiError('INVALID_TRANSACTION', `failed to parse transaction: the batch that the account runs ${why}`);
