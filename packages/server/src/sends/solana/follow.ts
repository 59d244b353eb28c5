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
    return await landed(parts, send, attempt, status);
  }
  // The fork that had it was given up: it is on its way again with the same bytes.
  if (send.state !== 'BROADCASTING') return onItsWay(send);
  const last = attempt.lastValidBlockHeight;
  if (last !== undefined && height > BigInt(last) && !isValid) return missing(parts, send, height);
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
  { hash }: SendAttempt,
  { slot, confirmationStatus, err }: SolanaSignatureStatus,
): Promise<SendProgress | undefined> {
  const isFinal = confirmationStatus === 'finalized';
  if (err !== undefined && !isFinal) {
    // On another fork it may succeed yet. A failure is told when it is one for good: whoever hears of it may pay again.
    return send.state === 'BROADCASTING' ? undefined : onItsWay(send);
  }
  if (confirmationStatus === 'processed') return undefined;
  const isKnown = send.state === 'INCLUDED' && send.block?.number === Number(slot);
  if (isKnown && !isFinal) return undefined;
  const details = await detailsOf(node, hash);
  const before = isKnown ? send.block : undefined;
  const block: SendBlock = {
    number: Number(slot),
    hash: String(slot),
    timestamp: before?.timestamp ?? Math.floor(nowMs / 1000),
    fee: details === undefined ? (before?.fee ?? '') : String(details.fee),
  };
  const common = { ...progressOf(send), block, isOpen: !isFinal };
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
