import type { SolanaNode, SolanaSignatureStatus, SolanaTransactionDetails } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import type { Send, SendAttempt, SendBlock, SendProgress } from '../../send/model.ts';
import { progressOf } from '../../send/parts.ts';
import { isWatchOver, sinceOf } from '../../send/since.ts';
import { parseWire } from '../solana.ts';
import { EXPIRED, executionError } from './errors.ts';
import type { SolanaParts } from './parts.ts';

/** For how many blocks a blockhash serves (Solana, MAX_PROCESSING_AGE). */
const BLOCKHASH_LIFE = 150n;
/** For how many blocks an expired send is looked for; about a minute. */
const WATCHED_BLOCKS = 150n;

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
  if (last !== undefined && height > BigInt(last) && !isValid) return await over(parts, send, attempt, last, height);
  // The fork that had it was given up, and it is on its way again with the same bytes.
  if (send.state === 'INCLUDED') return onItsWay(send);
  // Whoever was told that it failed may have paid again: it is looked for, and not handed over once more.
  if (send.state !== 'FAILED') {
    missingSince.delete(send.id);
    await node.broadcast(attempt.raw);
  }
  if (last !== undefined || isValid) return undefined;
  // A blockhash that came with the transaction and is not valid has had its time, or is too new for the node to know.
  const lastValidBlockHeight = Number(height + BLOCKHASH_LIFE);
  return { ...progressOf(send), attempts: [{ ...attempt, lastValidBlockHeight }] };
}

const blockhashOf = ({ raw }: SendAttempt): string =>
  parseWire(Buffer.from(raw, 'base64').toString('hex')).transaction.recentBlockhash;

/** One node says that its time is over and that no block has it. All others that answer have to say the same. */
async function over(
  parts: SolanaParts,
  send: Send,
  attempt: SendAttempt,
  last: number,
  height: bigint,
): Promise<SendProgress | undefined> {
  const { node, missingSince } = parts;
  const sights = await node.lookEverywhere(attempt.hash, blockhashOf(attempt));
  const statuses = sights.flatMap(({ status }) => status ?? []);
  if (statuses.length > 0) {
    missingSince.delete(send.id);
    const status = agreed(statuses);
    return status && (await landed(parts, send, attempt, status, height));
  }
  const isOver = sights.every(
    (sight) => sight.status === undefined && sight.height > BigInt(last) && !sight.isBlockhashValid,
  );
  if (sights.length === 0 || !isOver) return undefined;
  // Nobody looked for long, and nodes have forgotten what two thirds of the stake had confirmed.
  if (send.state === 'INCLUDED') return { ...progressOf(send), isOpen: false };
  return missing(parts, send, height);
}

const DEEPEST_FIRST = ['finalized', 'confirmed', 'processed'] as const;

/** The deepest one; undefined where nodes of that depth contradict each other, so that nobody is believed. */
function agreed(statuses: readonly SolanaSignatureStatus[]): SolanaSignatureStatus | undefined {
  const level = DEEPEST_FIRST.find((one) => statuses.some(({ confirmationStatus }) => confirmationStatus === one));
  const [first, ...others] = statuses.filter(({ confirmationStatus }) => confirmationStatus === level);
  const isSame = others.every(({ err }) => (err === undefined) === (first?.err === undefined));
  return isSame ? first : undefined;
}

/**
 * No block can take it any more, and none has. Believed when the chain has grown and it is still so. It is watched for a
 * while afterwards, in case nodes were wrong.
 */
function missing({ missingSince, elapsedMs }: SolanaParts, send: Send, height: bigint): SendProgress | undefined {
  const now = { height, atMs: elapsedMs };
  const since = sinceOf(missingSince, send.id, now);
  if (send.state === 'FAILED') {
    return isWatchOver(since, now, WATCHED_BLOCKS) ? { ...progressOf(send), isOpen: false } : undefined;
  }
  if (height <= since.height) return undefined;
  missingSince.set(send.id, now);
  return { ...progressOf(send), state: 'FAILED', error: EXPIRED };
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
    return send.state === 'INCLUDED' ? onItsWay(send) : undefined;
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
