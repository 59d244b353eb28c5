import type { Clock } from '../../../lib/clock.ts';
import { asQuantity, heedTrouble, illShaped, resultOf } from '../../nodes/answers.ts';
import type { EvmFees } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import type { Rpc } from '../../nodes/rpc.ts';
import { readBlockAt } from './block-at.ts';

/** A million gwei. Whoever names more would have the payer's whole balance burnt. */
const FEE_PER_GAS_MAX = 10n ** 15n;
/** What a node that nobody contradicts may ask for, by what was asked for before. */
const RISE_MAX = 3n;
/** For how long that counts: prices do rise, and one that stays is to be believed in the end. */
const KNOWN_MS = 5 * 60_000;

/**
 * What nodes advise to pay: the median of those that answer, of an even number the lower one of the two in the middle,
 * so that nobody alone can raise it. One that answers alone is believed up to three times what was last known.
 */
export function createFeeAdvice(rpc: Pick<Rpc, 'ask' | 'askPromptly'>, clock: Clock): () => Promise<EvmFees> {
  let known: { readonly maxFeePerGas: bigint; readonly atMs: number } | undefined;
  return async () => {
    const answers = await rpc.askPromptly(readFees);
    const fees = medianOf(answers.length > 0 ? answers : [await readFees(rpc.ask)]);
    const { maxFeePerGas } = fees;
    const atMs = clock();
    const isKnown = known !== undefined && atMs - known.atMs < KNOWN_MS;
    if (answers.length > 1 || !isKnown) known = { maxFeePerGas, atMs };
    else if (known !== undefined && maxFeePerGas > RISE_MAX * known.maxFeePerGas) {
      throw new NodeError(
        'unavailable',
        `the only node that answers asks for ${maxFeePerGas} wei a unit of gas, more than three times the ${known.maxFeePerGas} of a moment ago; name a second node in rpcUrls`,
      );
    }
    return fees;
  };
}

/** Each number by itself. The tip of the result is never above its fee, as it is in no answer. */
function medianOf(answers: readonly EvmFees[]): EvmFees {
  const median = (numbers: readonly bigint[]): bigint => {
    const sorted = [...numbers].sort((one, other) => (one < other ? -1 : 1));
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0n;
  };
  return {
    maxFeePerGas: median(answers.map((one) => one.maxFeePerGas)),
    maxPriorityFeePerGas: median(answers.map((one) => one.maxPriorityFeePerGas)),
  };
}

async function readFees(ask: Rpc['ask']): Promise<EvmFees> {
  const [block, tip] = await Promise.all([
    ask(readBlockAt('latest')),
    ask({
      method: 'eth_maxPriorityFeePerGas',
      params: [],
      read: (answer) => {
        if (answer.ok) return asFee(answer.result);
        heedTrouble(answer);
        return undefined;
      },
    }),
  ]);
  const baseFee = block?.baseFeePerGas;
  if (baseFee !== undefined && baseFee > FEE_PER_GAS_MAX) throw illShaped('the base fee');
  if (baseFee !== undefined && tip !== undefined) return feesOf(baseFee, tip);
  const price = await ask({ method: 'eth_gasPrice', params: [], read: (answer) => asFee(resultOf(answer)) });
  if (baseFee === undefined) return { maxFeePerGas: price, maxPriorityFeePerGas: price };
  return feesOf(baseFee, price > baseFee ? price - baseFee : 0n);
}

const feesOf = (baseFee: bigint, tip: bigint): EvmFees => ({
  maxFeePerGas: 2n * baseFee + tip,
  maxPriorityFeePerGas: tip,
});

function asFee(result: unknown): bigint {
  const fee = asQuantity(result, 'the fee');
  if (fee > FEE_PER_GAS_MAX) throw illShaped('the fee');
  return fee;
}
