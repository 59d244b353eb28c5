import type { EvmCall } from '../../chains/ethereum/batch.ts';
import { chainTitle } from '../chain-names.ts';
import type { Field, Sentence, SentenceContext } from '../sentence.ts';
import { count, say } from '../text.ts';
import { callsSentence, evmFee, gweiText } from './evm.ts';
import { type FeeWords, settledFee, withFee } from './fee.ts';

/** What a caller may fix of a transaction besides its calls; numbers are decimal. */
export interface SendTerms {
  readonly sponsor?: boolean;
  readonly nonce?: string;
  readonly gasLimit?: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly deadline?: string;
  readonly gasStationNonce?: string;
}

/** Calls that the service signs and sends, with everything that the caller fixed of the transaction. */
export function sendSentence(
  context: SentenceContext,
  caip2: string,
  from: string,
  calls: readonly EvmCall[],
  terms: SendTerms,
): Sentence {
  const sent = calls.reduce((sum, { value }) => sum + value, 0n);
  const said = withFee(callsSentence(context, caip2, from, calls), feeOf(context, caip2, terms, sent));
  const chain: Field = { label: 'Chain', value: [{ text: `${chainTitle(caip2)} (${caip2})` }], kind: 'TEXT' };
  return { ...said, fields: [...(said.fields ?? []), chain, ...termFields(terms)] };
}

/** A price that the service takes from a node is limited by the operator, and not the caller's to choose. */
function feeOf(context: SentenceContext, caip2: string, terms: SendTerms, sent: bigint): FeeWords {
  const { sponsor = false, gasLimit, maxFeePerGas } = terms;
  if (sponsor) return settledFee({ text: 'paid by the operator' });
  const highest = context.chains.get(caip2)?.maxFeePerGas;
  if (maxFeePerGas === undefined) {
    const limit =
      highest === undefined || highest === 0n ? say`` : say`, at most ${gweiText(highest)} for a unit of gas`;
    return settledFee(...say`what nodes of the chain ask for${limit}`);
  }
  const most = gasLimit === undefined ? undefined : BigInt(gasLimit) * BigInt(maxFeePerGas);
  return evmFee(context, BigInt(caip2.slice('eip155:'.length)), most, sent);
}

function termFields(terms: SendTerms): readonly Field[] {
  const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, deadline, gasStationNonce } = terms;
  const number = (label: string, value: string | undefined): Field[] =>
    value === undefined ? [] : [{ label, value: [{ text: count(BigInt(value)) }], kind: 'TEXT' }];
  const price = (label: string, value: string | undefined): Field[] =>
    value === undefined ? [] : [{ label, value: [gweiText(BigInt(value))], kind: 'AMOUNT' }];
  return [
    ...number('Nonce', nonce),
    ...number('Gas limit', gasLimit),
    ...price('Price of gas, at most', maxFeePerGas),
    ...price('Tip, at most', maxPriorityFeePerGas),
    ...number('Nonce of the batch', gasStationNonce),
    ...(deadline === undefined
      ? []
      : [{ label: 'Not after', value: [{ text: timeText(Number(deadline)) }], kind: 'TIME' as const }]),
  ];
}

function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `${seconds} seconds after 1970` : date.toISOString();
}
