import type { Broadcast } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import type { RpcRefusal } from '../../nodes/rpc-answer.ts';

type Outcome = Exclude<Broadcast, { kind: 'accepted' | 'uncertain' }>;

/**
 * How nodes word what they make of a transaction. There are no codes for it: most use -32000 for all, besu has some of
 * its own and anvil -32003. The order counts, since some messages hold the words of two. In brackets: who says so.
 */
const WORDINGS: readonly (readonly [RegExp, Exclude<Outcome['kind'], 'refused'>])[] = [
  // "already known" (geth, reth, nethermind, erigon), "AlreadyKnown" (nethermind before), "Known transaction" (besu),
  // "transaction already imported" and "already Imported" (anvil), "existing tx with same hash" (erigon), "already in
  // mempool" and "already exists" (others)
  [/already ?known|known transaction|already imported|same hash|already in (the )?mempool|tx already exist/i, 'known'],
  // "nonce too low" (all), "nonce too low: next nonce 5, tx nonce 4" (geth, reth), "OldNonce" (nethermind before),
  // "nonce is too low", "Transaction nonce below sender account nonce" (besu before)
  [/nonce (is )?too low|old ?nonce|nonce below|nonce has already been used/i, 'nonce-too-low'],
  // "replacement transaction underpriced" and "transaction underpriced" (geth, reth, nethermind, besu, erigon), "could
  // not replace existing tx" (erigon), "ReplacementNotAllowed" and "FeeTooLow" (nethermind before), "insufficient gas
  // price to replace existing transaction" (anvil), "Gas price below current base fee" (besu), "max fee per gas less
  // than block base fee" (geth, reth, anvil), "gas tip cap" below the minimum (geth)
  [/underpriced|could not replace|replacement ?not ?allowed|fee ?too ?low|to replace existing/i, 'underpriced'],
  [/(gas price|fee per gas|fee cap|tip cap|gas tip)\b.*\b(below|less than|minimum|too low)/i, 'underpriced'],
];

/** These speak of the node or of its pool just now: the same bytes may be taken a moment later, or elsewhere. */
const NOT_NOW =
  /pool is full|sub-pool|pool (not enabled|overflow)|sync|too many requests|rate.?limit|account limit exceeded|limit exceeded$|quota|capacity|throttl|timed? ?out|timeout|unauthorized|forbidden|api.?key|project id|method\b.*\bnot (available|supported|allowed|exist|found)/i;
const NOT_NOW_CODES: ReadonlySet<number> = new Set([-32603, -32601, -32600, 429, -32029, -32097]);

/** What a node made of a transaction that it did not simply accept. A NodeError means that this is not known. */
export function readBroadcastRefusal({ code, message }: RpcRefusal): Outcome {
  for (const [wording, kind] of WORDINGS) if (wording.test(message)) return { kind };
  const isOfGas = /gas limit/i.test(message);
  if (NOT_NOW_CODES.has(code) || (!isOfGas && (code === -32005 || NOT_NOW.test(message))))
    throw new NodeError('unavailable', message);
  return { kind: 'refused', message };
}
