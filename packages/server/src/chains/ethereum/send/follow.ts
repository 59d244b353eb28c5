import { KeyringError } from '@custos/keyring';
import { encodeEventTopics } from 'viem';
import { isOfFuture } from '../../../lib/clock.ts';
import type { EvmBlock, EvmNode, EvmReceipt, Hex } from '../../nodes/node.ts';
import { SignerGone } from '../../send/errors.ts';
import { laneAddress, type Send, type SendAttempt, type SendBlock, type SendError } from '../../send/model.ts';
import { progressOf, type Round } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import { hasLasted, isWatchOver, type Since, sinceOf } from '../../send/since.ts';
import type { ChainSettings } from '../../settings.ts';
import { custosBatchAbi } from '../contract-artifacts.ts';
import { isDelegatedTo } from '../delegation.ts';
import { blockWith } from '../node/block-with.ts';
import { BATCH_LIFE_SECONDS } from './build.ts';
import { raisedFees } from './fees.ts';
import { giveNonceOn, handOver, REBROADCAST_AFTER_MS } from './hand-over.ts';
import { refusalError } from './revert.ts';
import { callOf, feesOf, lastNonceOf, payerOf, signAttempt, withFees } from './transaction.ts';
import { withdrawnIn } from './withdrawn.ts';

/** Blocks on top of a transaction after which it is not looked at again, on chains that do not tell what is final. */
const SETTLED_DEPTH = 12n;
/** How many polls apart what is in a block is looked at: finality takes a quarter of an hour on some chains. */
const INCLUDED_POLLS = 10;
const ATTEMPTS_MAX = 12;
/** Blocks for which a nonce must be taken, without a receipt of ours, until the send is given up. */
const MISSING_BLOCKS = 3n;

/** How the chain looks in this round. */
export interface View {
  readonly head: EvmBlock;
  /** Height of the newest block that cannot be undone; `none` where the chain has no such thing. */
  readonly finalized: bigint | 'unknown' | 'none';
  /** How many transactions of the lane's address are in blocks. */
  readonly count: number;
  /** The next nonce, where nothing of ours takes it and something behind it waits. */
  readonly gap: number | undefined;
}

interface Landed {
  readonly attempt: SendAttempt;
  readonly receipt: EvmReceipt;
  readonly block: EvmBlock;
}

/** Whether a send is to be looked at in this round. */
export function isDue({ chain, memory, parts }: Round, send: Send, view: View): boolean {
  const lastMs = memory.lookedAtMs.get(send.id);
  if (send.block === undefined || lastMs === undefined || isFinal(BigInt(send.block.number), chain, view)) return true;
  return parts.elapsed() - lastMs >= INCLUDED_POLLS * chain.pollMs;
}

/** Whether a block stays where it is. */
function isFinal(number: bigint, { confirmations }: ChainSettings, { head, finalized }: View): boolean {
  if (finalized === 'unknown') return false;
  if (finalized !== 'none') return number <= finalized;
  const settled = BigInt(confirmations) > SETTLED_DEPTH ? BigInt(confirmations) : SETTLED_DEPTH;
  return head.number - number >= settled;
}

/** Finds out what became of a send that nodes may have, and does what helps it on. */
export async function follow(round: Round, node: EvmNode, send: Send, view: View): Promise<void> {
  const landed = await findLanded(node, send);
  round.memory.lookedAtMs.set(send.id, round.parts.elapsed());
  if (landed === 'unclear') return;
  if (landed !== undefined) {
    if (await isAnothers(round, send, landed)) await round.save(send, { ...progressOf(send), isOpen: false });
    else await included(round, node, send, landed, view);
    return;
  }
  if (send.block !== undefined) return await undone(round, node, send, send.block, view);
  return await missing(round, node, send, view);
}

/** Whether another send that says the same got the nonce that this one gave on: its bytes are the same then. */
const isAnothers = async ({ parts }: Round, { caip2, nonce }: Send, { attempt }: Landed): Promise<boolean> =>
  nonce === undefined && (await parts.storage.read(Sends).isTaken(caip2, attempt.hash));

/** The attempt that is in a block. `unclear`: nodes contradict themselves or each other, so that nobody is believed. */
export async function findLanded(
  node: EvmNode,
  { attempts }: Pick<Send, 'attempts'>,
): Promise<Landed | 'unclear' | undefined> {
  const receipts = await Promise.all(attempts.map(({ hash }) => node.receipt(hash as Hex)));
  const index = receipts.findIndex((receipt) => receipt !== undefined);
  const receipt = receipts[index];
  const attempt = attempts[index];
  if (receipt === undefined || attempt === undefined) return undefined;
  const block = await blockWith(node, receipt);
  if (block === undefined || (await node.confirmedElsewhere(receipt)) === false) return 'unclear';
  return { attempt, receipt, block };
}

async function included(round: Round, node: EvmNode, send: Send, landed: Landed, view: View): Promise<void> {
  const { attempt, receipt, block } = landed;
  const depth = view.head.number - receipt.blockNumber + 1n;
  round.memory.missingSince.delete(send.id);
  if (depth < BigInt(round.chain.confirmations)) return;
  const isSettled = isFinal(receipt.blockNumber, round.chain, view);
  if (send.block?.hash === receipt.blockHash && !isSettled) return;
  const where: SendBlock = {
    number: Number(receipt.blockNumber),
    hash: receipt.blockHash,
    timestamp: block.timestamp,
    fee: String(receipt.gasUsed * receipt.effectiveGasPrice),
    gasUsed: String(receipt.gasUsed),
    ...withdrawnBy(send, receipt),
  };
  const isKnown = send.block?.hash === where.hash;
  const error = isKnown ? send.error : await failureOf(round, node, send, landed);
  await round.save(send, {
    ...progressOf(send),
    state: error === undefined ? 'INCLUDED' : 'FAILED',
    txHash: attempt.hash,
    block: where,
    error,
    isOpen: !isSettled,
  });
}

/** A withdrawal of everything names no amount: how much it was is known by its receipt alone (docs/decisions/0040). */
function withdrawnBy({ purpose, request, sender }: Send, { logs }: EvmReceipt): Pick<SendBlock, 'withdrawn'> {
  const call = request.kind === 'ethereum' ? request.calls.at(-1) : undefined;
  if (purpose !== 'earn-withdraw' || call === undefined) return {};
  return { withdrawn: String(withdrawnIn(logs, call.to, sender)) };
}

async function failureOf(round: Round, node: EvmNode, send: Send, landed: Landed): Promise<SendError | undefined> {
  if (landed.attempt.isEmpty) return send.error ?? REFUSED;
  if (!landed.receipt.isSuccess) return await revertOf(round, node, send, landed);
  if (await didItsCalls(round, node, send, landed.receipt)) return undefined;
  return {
    message: 'it did nothing: another transaction of the account came between, so that its authorization was void',
  };
}

/**
 * A call to an account that has not borrowed the batch contract's code succeeds and does nothing. What was signed for
 * the operator tells of itself; of what the account runs itself the code must be there.
 */
async function didItsCalls(
  { chain }: Round,
  node: EvmNode,
  { request, sender }: Send,
  { logs }: EvmReceipt,
): Promise<boolean> {
  if (request.kind !== 'ethereum') return true;
  if (request.sponsored !== undefined) {
    const args = { nonce: BigInt(request.sponsored.batchNonce) };
    const [used, nonce] = encodeEventTopics({ abi: custosBatchAbi, eventName: 'NonceUsed', args });
    return logs.some(({ address, topics }) => address === sender && topics[0] === used && topics[1] === nonce);
  }
  if (request.calls.length < 2) return true;
  return chain.batchContract !== undefined && isDelegatedTo(await node.code(sender as Hex), chain.batchContract);
}

/** Why it was reverted: the same call on the state before its block. */
async function revertOf({ parts }: Round, node: EvmNode, send: Send, { attempt, receipt }: Landed): Promise<SendError> {
  const { to, data, value, gas } = callOf(attempt);
  const fallback = { message: 'the transaction was reverted' };
  if (to === undefined) return fallback;
  const call = { from: receipt.from, to, data, value };
  const result = await node.call(call, receipt.blockNumber - 1n).catch(() => undefined);
  // Used up to the last, and the same call does work: it was given too little.
  if (result?.ok && receipt.gasUsed * 64n >= gas * 63n) return { message: 'it ran out of gas' };
  if (result === undefined || result.ok) return fallback;
  const error = await refusalError(parts.storage.read, send, to, result);
  return error.eth === undefined ? { message: `execution reverted: ${result.message}` } : error;
}

/** It was in a block. If that block is gone from the chain, it is on its way again with the same bytes. */
async function undone(round: Round, node: EvmNode, send: Send, block: SendBlock, view: View): Promise<void> {
  if (view.head.number < BigInt(block.number)) return;
  const there = await node.block(BigInt(block.number));
  // A node that has the block but not its receipts is behind with its work.
  if (there === undefined || there.hash === block.hash) return;
  const back = await round.save(send, {
    ...progressOf(send),
    ...(isFilled(send)
      ? { state: 'FAILED', error: send.error ?? REFUSED }
      : { state: 'BROADCASTING', error: undefined }),
    // One that a node had refused has it again: it was in a block, and is on its way like any other.
    nonce: send.nonce ?? lastNonceOf(send),
    block: undefined,
  });
  await handOver(round, node, back);
}

/** Whether an empty transaction took the place of what nodes refused. */
const isFilled = ({ attempts }: Send): boolean => attempts.at(-1)?.isEmpty === true;

/** For one that a block had in spite of it, until that was undone. */
const REFUSED: SendError = { message: 'the node refused it' };

async function missing(round: Round, node: EvmNode, send: Send, view: View): Promise<void> {
  // A node would not have it, so that its nonce was given on.
  if (send.nonce === undefined) return await watch(round, node, send, view);
  const nonce = send.attempts[0]?.nonce ?? 0;
  if (view.count > nonce) return await overtaken(round, node, send, view);
  round.memory.missingSince.delete(send.id);
  // Given up before, and now the nonce is open again: the chain was reorganised.
  const current =
    send.state === 'FAILED' && !isFilled(send)
      ? await round.save(send, { ...progressOf(send), state: 'BROADCASTING', error: undefined })
      : send;
  const nowMs = round.parts.clock();
  const newest = current.attempts.at(-1);
  const isFirst = view.count === nonce;
  const isOld = ({ signedAtMs }: SendAttempt): boolean =>
    nowMs - signedAtMs >= round.chain.replaceAfterSeconds * 1000 || isOfFuture(signedAtMs, nowMs);
  if (isFirst && newest !== undefined && isOld(newest)) {
    if (await replace(round, node, current, newest)) return;
  }
  const lastMs = round.memory.broadcastAtMs.get(send.id);
  // Also right after a start: whoever stored it may have died before a node had it.
  if (lastMs !== undefined && round.parts.elapsed() - lastMs < REBROADCAST_AFTER_MS) return;
  const outcome = await handOver(round, node, current);
  // Whoever stored it died before it heard the refusal.
  if (isFirst && outcome?.kind === 'refused') await giveNonceOn(round, current, outcome.message);
}

/**
 * Another transaction took the nonce, unless receipts are late. It cannot land any more, and is not sent at another
 * nonce: whoever sent the other one knows what they wanted. It stays open for a while in case nodes were wrong.
 */
async function overtaken(round: Round, node: EvmNode, send: Send, view: View): Promise<void> {
  if (send.state === 'FAILED') return await watch(round, node, send, view);
  const { missingSince } = round.memory;
  const now = nowOf(round, view);
  if (!hasLasted(sinceOf(missingSince, send.id, now), now, MISSING_BLOCKS)) return;
  const [address, nonce] = [laneAddress(send.lane), send.attempts[0]?.nonce ?? 0];
  const counts = await node.transactionCounts(address as Hex);
  if (counts.length === 0 || counts.some((count) => count <= nonce) || !(await isNowhere(node, send))) return;
  const error = { message: `another transaction of ${address} took its nonce ${nonce}` };
  await round.save(send, { ...progressOf(send), state: 'FAILED', error });
  missingSince.set(send.id, now);
}

/** Lets a send go that failed, when enough blocks have come without it. */
async function watch(round: Round, node: EvmNode, send: Send, view: View): Promise<void> {
  // Others wait for its nonce, which is tried to be filled until it is.
  if (view.gap !== undefined && send.attempts[0]?.nonce === view.gap) return;
  const now = nowOf(round, view);
  const since = sinceOf(round.memory.missingSince, send.id, now);
  if (!isWatchOver(since, now, SETTLED_DEPTH) || !(await isNowhere(node, send))) return;
  await round.save(send, { ...progressOf(send), isOpen: false });
}

const nowOf = ({ parts }: Round, { head }: View): Since => ({ height: head.number, atMs: parts.elapsed() });

/** The node that was asked so far may be behind, or lie; when nobody answers any more nothing is known. */
const isNowhere = async (node: EvmNode, { attempts }: Send): Promise<boolean> =>
  (await node.hasReceiptAnywhere(attempts.map(({ hash }) => hash as Hex))) === false;

/** Whether a send is worth more than its caller said at first. */
function isRaised({ parts }: Round, { request, attempts: [first] }: Send): boolean {
  // Whoever fixed a fee meant it.
  if (request.kind !== 'ethereum' || request.maxFeePerGas !== undefined) return false;
  if (request.sponsored === undefined) return true;
  // A batch does nothing after its deadline.
  const lastMs = (first?.signedAtMs ?? 0) + BATCH_LIFE_SECONDS * 1000;
  return parts.clock() < Math.min(lastMs, (request.deadline ?? Infinity) * 1000);
}

/** The same transaction at the same nonce for more, so that one of them lands at most. False where it is not to be. */
async function replace(round: Round, node: EvmNode, send: Send, newest: SendAttempt): Promise<boolean> {
  if (send.attempts.length >= ATTEMPTS_MAX || (!newest.isEmpty && !isRaised(round, send))) return false;
  const fees = await raisedFees(round, node, feesOf(newest));
  // At the limit there is nothing to be gained.
  if (fees === undefined) return false;
  let attempt: SendAttempt;
  try {
    const signed = await signAttempt(round, send, payerOf(send), withFees(newest, fees));
    attempt = newest.isEmpty ? { ...signed, isEmpty: true } : signed;
  } catch (error) {
    // What is out may still land.
    if (error instanceof SignerGone || (error instanceof KeyringError && error.code === 'NOT_OPENED')) return false;
    throw error;
  }
  const stored = await round.save(send, {
    ...progressOf(send),
    attempts: [...send.attempts, attempt],
    txHash: attempt.hash,
  });
  await handOver(round, node, stored);
  return true;
}
