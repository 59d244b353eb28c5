import { KeyringError } from '@custos/keyring';
import { assert } from '../../../lib/assert.ts';
import type { SolanaBlockhash, SolanaRefusal } from '../../nodes/node.ts';
import { costTerms } from '../../send/cost.ts';
import { OverBudget, SignerGone } from '../../send/errors.ts';
import type { Send, SendAttempt, SendProgress, SolanaSendRequest } from '../../send/model.ts';
import { progressOf } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import { withBlockhash } from '../blockhash.ts';
import { highestFee } from '../fee.ts';
import { isSigned, requiredSigners, transactionId } from '../signatures.ts';
import { parseWire, type SolanaWire, wireBytes } from '../solana.ts';
import { refusalError } from './errors.ts';
import type { SolanaParts } from './parts.ts';

/** Signs a send, stores it and hands it to a node. */
export async function begin(parts: SolanaParts, send: Send): Promise<SendProgress | undefined> {
  const { node, nowMs } = parts;
  const { request } = send;
  if (request.kind !== 'solana') return failed(send, 'it is not for this kind of chain');
  const { sendWithinSeconds } = node.chain;
  if (nowMs - send.createdAtMs > sendWithinSeconds * 1000) {
    const why = isUnproven(request) ? '; no node has called its blockhash valid' : '';
    return failed(send, `it could not be sent within ${sendWithinSeconds} seconds${why}; nothing was sent`);
  }
  const attempt = await attemptOf(parts, send, request);
  if (attempt === undefined || 'state' in attempt) return attempt;
  // Stored before any node sees it: whoever dies from here on leaves behind what is to be sent again, byte for byte.
  const stored = {
    ...progressOf(send),
    state: 'BROADCASTING',
    attempts: [attempt],
    txHash: attempt.hash,
  } as const;
  try {
    if (!(await parts.save(stored))) return undefined;
  } catch (error) {
    if (error instanceof OverBudget) return failed(send, error.message);
    throw error;
  }
  const outcome = await node.broadcast(attempt.raw);
  if (outcome.kind !== 'refused' || isTooNew(request, outcome)) return undefined;
  // Looked for until its time is over: a node may say no and pass it on.
  return { ...stored, state: 'FAILED', error: refusalError(outcome) };
}

/** A node that is a little behind the one that gave us the blockhash will know it soon. */
const isTooNew = ({ takesFreshBlockhash }: SolanaSendRequest, { err }: SolanaRefusal): boolean =>
  takesFreshBlockhash && err === 'BlockhashNotFound';

/**
 * The operator's signature is good on every network whose blockhash it signs, and others get to see it: a blockhash
 * that the operator is asked to sign must be one of this chain.
 */
const isUnproven = ({ isSponsored, takesFreshBlockhash }: SolanaSendRequest): boolean =>
  isSponsored && !takesFreshBlockhash;

/** The signed transaction; the failure of the send where it cannot be signed; undefined when it has to wait. */
async function attemptOf(
  parts: SolanaParts,
  send: Send,
  request: SolanaSendRequest,
): Promise<SendAttempt | SendProgress | undefined> {
  const given = parseWire(request.transaction);
  // It may be too new for the node to know.
  if (isUnproven(request) && !(await parts.node.isBlockhashValid(given.transaction.recentBlockhash))) return undefined;
  const fresh = request.takesFreshBlockhash ? await parts.node.latestBlockhash() : undefined;
  const message = fresh === undefined ? given.message : withBlockhash(given.message, fresh.blockhash);
  let slots: readonly Uint8Array[];
  try {
    slots = await signed(parts, send, request, { ...given, message });
  } catch (error) {
    if (error instanceof SignerGone) return failed(send, error.message);
    if (error instanceof KeyringError && error.code === 'NOT_OPENED') return failed(send, 'the key does not open');
    throw error;
  }
  const hash = transactionId(slots);
  // Two payments that say the same under one blockhash are one transaction to the network: the second has to wait for
  // the next blockhash. Who brings a blockhash along asks for that very transaction, however often.
  if (fresh !== undefined && (await parts.read(Sends).hasHash(send.caip2, hash))) return undefined;
  return {
    hash,
    raw: Buffer.from(wireBytes(slots, message)).toString('base64'),
    signedAtMs: parts.nowMs,
    ...heightOf(fresh),
    ...costTerms(parts.node.chain, send, highestFee(given.transaction)),
  };
}

const heightOf = (fresh: SolanaBlockhash | undefined): Pick<SendAttempt, 'lastValidBlockHeight'> =>
  fresh === undefined ? {} : { lastValidBlockHeight: Number(fresh.lastValidBlockHeight) };

/** The signatures that the transaction came with, and those that are made here. */
async function signed(
  { node, sign }: SolanaParts,
  send: Send,
  request: SolanaSendRequest,
  wire: SolanaWire,
): Promise<readonly Uint8Array[]> {
  const { operatorAddress } = node.chain;
  const slots: Uint8Array[] = [];
  for (const [at, address] of requiredSigners(wire).entries()) {
    const isSponsor = request.isSponsored && at === 0;
    if (isSponsor && address !== operatorAddress)
      throw new SignerGone('the operator of the chain is another one by now');
    const isOurs = isSponsor || request.signers.includes(address);
    const signature = isOurs ? await sign(send, address, wire.message) : (wire.slots[at] ?? new Uint8Array());
    assert(isSigned(wire, address, signature), 'every signature of a transaction is one of its message');
    slots.push(signature);
  }
  return slots;
}

const failed = (send: Send, message: string): SendProgress => ({
  ...progressOf(send),
  state: 'FAILED',
  error: { message },
  isOpen: false,
});
