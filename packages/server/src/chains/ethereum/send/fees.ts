import type { EvmFees, EvmNode } from '../../nodes/node.ts';
import type { EthereumSendRequest } from '../../send/model.ts';
import type { Round } from '../../send/parts.ts';
import { Unsendable } from './build.ts';

/** Nothing is signed that pays more than so many times what nodes advise. */
const ADVICE_MULTIPLE_MAX = 3n;
/** In wei. Where gas costs less than this nobody loses a fortune, and tips of a gwei are a habit of many clients. */
const NEVER_TOO_MUCH = 2n * 10n ** 9n;
/** Nodes take a replacement that pays a tenth more; some want an eighth. */
const FEE_RISE = { numerator: 125n, denominator: 100n };

/** What nodes advise, where nobody fixed anything. */
export const advisedFees = async ({ chain }: Round, node: EvmNode): Promise<EvmFees> =>
  cappedFees(await node.fees(), chain.maxFeePerGas);

/** What the caller fixed, and the advice of nodes for the rest. */
export async function feesFor(
  { chain }: Round,
  node: EvmNode,
  { maxFeePerGas, maxPriorityFeePerGas }: EthereumSendRequest,
): Promise<EvmFees> {
  const advised = await node.fees();
  if (maxFeePerGas === undefined) return cappedFees(advised, chain.maxFeePerGas);
  const highest = BigInt(maxFeePerGas);
  const tip = maxPriorityFeePerGas === undefined ? undefined : BigInt(maxPriorityFeePerGas);
  const fees =
    tip === undefined
      ? { ...cappedFees(advised, highest), maxFeePerGas: highest }
      : { maxFeePerGas: highest, maxPriorityFeePerGas: tip };
  requireReasonable(fees, advised);
  return fees;
}

/**
 * A high `maxFeePerGas` is a bound that costs nothing while blocks are cheap. What would be paid in the next block is the
 * base fee and the tip, and a tip of a wrong unit is lost for good.
 */
function requireReasonable({ maxFeePerGas, maxPriorityFeePerGas }: EvmFees, advised: EvmFees): void {
  const baseFee = (advised.maxFeePerGas - advised.maxPriorityFeePerGas) / 2n;
  const paid = smaller(maxFeePerGas, baseFee + maxPriorityFeePerGas);
  if (paid <= mostFor(advised)) return;
  throw new Unsendable(
    `it would pay ${paid} wei a unit of gas, more than three times the ${advised.maxFeePerGas} that nodes of the chain advise; ask again with a lower maxPriorityFeePerGas`,
  );
}

/** At least a quarter more than before and what is advised by now; undefined where that is more than may be paid. */
export async function raisedFees({ chain }: Round, node: EvmNode, before: EvmFees): Promise<EvmFees | undefined> {
  const advised = await node.fees();
  const raised = (old: bigint, now: bigint): bigint => {
    const least = (old * FEE_RISE.numerator) / FEE_RISE.denominator + 1n;
    return now > least ? now : least;
  };
  const maxFeePerGas = raised(before.maxFeePerGas, advised.maxFeePerGas);
  const highest = smaller(chain.maxFeePerGas, mostFor(advised));
  if (maxFeePerGas > highest) return undefined;
  const maxPriorityFeePerGas = raised(before.maxPriorityFeePerGas, advised.maxPriorityFeePerGas);
  return cappedFees({ maxFeePerGas, maxPriorityFeePerGas }, highest);
}

/** What nodes advise, but never more than the limit: what a node says must not cost a fortune. */
const cappedFees = ({ maxFeePerGas, maxPriorityFeePerGas }: EvmFees, highest: bigint): EvmFees => ({
  maxFeePerGas: smaller(maxFeePerGas, highest),
  maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, highest),
});

const mostFor = ({ maxFeePerGas }: EvmFees): bigint => larger(ADVICE_MULTIPLE_MAX * maxFeePerGas, NEVER_TOO_MUCH);
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
