import { parseWire } from '../../chains/solana/solana.ts';
import type { Send, SendAttempt, SendBlock, SendProgress } from '../../lib/send.ts';
import type { SolanaNode, SolanaSignatureStatus, SolanaTransactionDetails } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { progressOf } from '../parts.ts';
import { EXPIRED, executionError } from './errors.ts';
import type { SolanaParts } from './parts.ts';

/** For how many blocks a blockhash serves (Solana, MAX_PROCESSING_AGE). */
const BLOCKHASH_LIFE = 150n;

/** Finds out what became of a send that nodes may have, and hands it to a node again while none has seen it. */
export async function follow(parts: SolanaParts, send: Send, attempt: SendAttempt): Promise<SendProgress | undefined> {
  const { node, missingSince } = parts;
  // Asked for in one go, so that one node answers for all three.
  const [height, isValid, [status]] = await Promise.all([
    node.blockHeight(),
    node.isBlockhashValid(blockhashOf(attempt)),
    node.signatureStatuses([attempt.hash]),
  ]);
  if (status !== undefined) {
    missingSince.delete(send.id);
    return await landed(parts, send, attempt, status, height);
  }
  const last = attempt.lastValidBlockHeight;
  const isOver = last !== undefined && height > BigInt(last) && !isValid;
  if (send.state === 'INCLUDED') {
    // Nobody looked for long, and the node has forgotten what two thirds of the stake had confirmed. Otherwise the fork
    // that had it was given up, and it is on its way again with the same bytes.
    return isOver ? { ...progressOf(send), isOpen: false } : onItsWay(send);
  }
  if (isOver) return missing(parts, send, height);
  missingSince.delete(send.id);
  await node.broadcast(attempt.raw);
  if (last !== undefined || isValid) return undefined;
  // A blockhash that came with the transaction and is not valid has had its time, or is too new for the node to know.
  const lastValidBlockHeight = Number(height + BLOCKHASH_LIFE);
  return { ...progressOf(send), attempts: [{ ...attempt, lastValidBlockHeight }] };
}

const blockhashOf = ({ raw }: SendAttempt): string =>
  parseWire(Buffer.from(raw, 'base64').toString('hex')).transaction.recentBlockhash;

/** No block can take it any more, and none has. Believed when the chain has grown and it is still so. */
function missing({ missingSince }: SolanaParts, send: Send, height: bigint): SendProgress | undefined {
  const since = missingSince.get(send.id);
  if (since === undefined) missingSince.set(send.id, height);
  if (since === undefined || height <= since) return undefined;
  missingSince.delete(send.id);
  return { ...progressOf(send), state: 'FAILED', error: EXPIRED, isOpen: false };
}

async function landed(
  { node, nowMs }: SolanaParts,
  send: Send,
  attempt: SendAttempt,
  { slot, confirmationStatus, err }: SolanaSignatureStatus,
  height: bigint,
): Promise<SendProgress | undefined> {
  const isFinal = confirmationStatus === 'finalized';
  if (err !== undefined && !isFinal) {
    // On another fork it may succeed yet. A failure is told when it is one for good: whoever hears of it may pay again.
    return send.state === 'BROADCASTING' ? undefined : onItsWay(send);
  }
  if (confirmationStatus === 'processed') return undefined;
  const isKnown = send.state === 'INCLUDED' && send.block?.number === Number(slot);
  if (isKnown && !isFinal) return undefined;
  const details = await detailsOf(node, attempt.hash);
  const before = isKnown ? send.block : undefined;
  const block: SendBlock = {
    number: Number(slot),
    hash: String(slot),
    timestamp: before?.timestamp ?? Math.floor(nowMs / 1000),
    fee: details === undefined ? (before?.fee ?? '') : String(details.fee),
  };
  // The blockhash served for a block that is at most a little above the finalized ones.
  const lastValidBlockHeight = attempt.lastValidBlockHeight ?? Number(height + 2n * BLOCKHASH_LIFE);
  const attempts = [{ ...attempt, lastValidBlockHeight }];
  const common = { ...progressOf(send), attempts, block, isOpen: !isFinal };
  if (err === undefined) return { ...common, state: 'INCLUDED', error: undefined };
  return { ...common, state: 'FAILED', error: executionError(err, details) };
}

const onItsWay = (send: Send): SendProgress => ({
  ...progressOf(send),
  state: 'BROADCASTING',
  block: undefined,
  error: undefined,
});

/** Worth having, but nothing depends on it: not every node keeps them. */
async function detailsOf(node: SolanaNode, hash: string): Promise<SolanaTransactionDetails | undefined> {
  try {
    return await node.transactionDetails(hash);
  } catch (error) {
    if (error instanceof NodeError) return undefined;
    throw error;
  }
}
