import { decodeFunctionData, type Hex, keccak256, parseTransaction } from 'viem';
import type { Send } from '../../send/model.ts';
import { custosBatchAbi } from '../contract-artifacts.ts';
import { runData } from '../send/transaction.ts';
import type { SentTransaction } from './signed-transaction.ts';

type Deed = Pick<SentTransaction, 'hash' | 'to' | 'value' | 'input' | 'nonce'>;

/**
 * Whether a transaction of the paying address does what a send asks for, in the form in which Custos sends it: alone, as a batch
 * that the account runs, or as a batch that it has signed for the operator. Gas and fees may be any.
 */
export function isDeedOf({ request, sender }: Send, { hash, to, value, input, nonce }: Deed): boolean {
  if (request.kind === 'ethereum-raw') return keccak256(request.raw as Hex) === hash;
  if (request.kind !== 'ethereum') return false;
  if (request.nonce !== undefined && request.nonce !== nonce) return false;
  const { calls, sponsored } = request;
  if (sponsored !== undefined)
    return to === sender && input !== '0x' && isSignedBatch(input, sponsored.batchNonce, runData(calls));
  const [call] = calls;
  if (call === undefined) return false;
  if (calls.length > 1) return to === sender && value === 0n && input === runData(calls);
  return to === call.to && value === BigInt(call.value) && input === call.data;
}

/** The same calls under the same nonce of the account's batches, whatever its deadline and signature. */
function isSignedBatch(input: Hex, batchNonce: string, run: Hex): boolean {
  try {
    const { functionName, args } = decodeFunctionData({ abi: custosBatchAbi, data: input });
    if (functionName !== 'runSigned') return false;
    const [nonce, , calls] = args as unknown as [
      bigint,
      bigint,
      readonly { to: string; value: bigint; data: string }[],
    ];
    const same = calls.map(({ to, value, data }) => ({ to: to.toLowerCase(), value: String(value), data }));
    return nonce === BigInt(batchNonce) && runData(same) === run;
  } catch {
    // It calls something else.
    return false;
  }
}

/** The nonce that a send has for good; undefined while the dispatcher would choose one. */
export function ownNonceOf({ request, nonce, attempts }: Send): number | undefined {
  const signed = attempts[0]?.nonce;
  if (signed !== undefined && nonce !== undefined) return signed;
  if (request.kind === 'ethereum-raw') return parseTransaction(request.raw as Hex).nonce ?? 0;
  return request.kind === 'ethereum' ? request.nonce : undefined;
}
