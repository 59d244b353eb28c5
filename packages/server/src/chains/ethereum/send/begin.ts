import { KeyringError } from '@custos/keyring';
import { BaseError, keccak256, parseTransaction } from 'viem';
import type { ReadStores } from '../../../storage/stores.ts';
import type { CallRefusal, EvmNode, Hex } from '../../nodes/node.ts';
import { isPaidByOperator } from '../../send/cost.ts';
import { OverBudget, SignerGone } from '../../send/errors.ts';
import {
  type EthereumSendRequest,
  laneAddress,
  nextNonce,
  type RawSendRequest,
  type Send,
  type SendError,
} from '../../send/model.ts';
import { isPassedOver, isShared, progressOf, type Round, unlessGone } from '../../send/parts.ts';
import { Sends } from '../../send/sends.ts';
import type { ChainSettings } from '../../settings.ts';
import { isDelegation } from '../delegation.ts';
import { draft, estimateOf, NotYet, transactionOf, Unsendable } from './build.ts';
import { feesFor } from './fees.ts';
import { handOverFirst } from './hand-over.ts';
import { refusalError } from './revert.ts';
import { signAttempt } from './transaction.ts';

/** Of one address; nodes keep no more than a few dozen. */
const ON_THE_WAY_MAX = 32;
/** Over the estimate, in percent: state may change until the block is made. */
const GAS_MARGIN = 120n;
/**
 * Of Earn: estimated in a block in which the vault was used it lacks the interest that the next block counts, with all
 * that follows from it. What is not used is not paid.
 */
const EARN_GAS_MARGIN = 200n;

/** How long one may stay in a lane of others while its own account is not ready for it. */
const HELD_MS_MAX = 60_000;

/** What of a lane is on its way, and what a nonce may be taken after. */
export interface Line {
  /** Sends that nodes have, or may have, and that no block has. */
  onTheWay: number;
  /** Whose sends are on their way. */
  readonly senders: Set<string>;
  /** What nodes count, with what waits there. */
  readonly count: number;
  /** What sends of ours have taken. */
  readonly taken: Set<number>;
  /** Whether nodes take one transaction of this account at a time only (EIP-7702). */
  isSingle: boolean;
  /** Whether the operator is about to bring an authorization of this account, which takes its next nonce. */
  readonly isAwaited: boolean;
}

/** `sent`: the next one may begin. `wait`: this one and all behind it wait. `skip`: only this one waits. */
export type Begun = 'sent' | 'wait' | 'skip';

/** Reads where the lane stands: what is counted by nodes, and what is on its way by our own account. */
export async function openLine({ parts, chain, lane }: Round, node: EvmNode): Promise<Line> {
  const address = laneAddress(lane.lane) as Hex;
  const [count, out, code] = await Promise.all([
    node.transactionCount(address, 'pending'),
    parts.storage.read(Sends).onTheWay(chain.caip2, lane.lane),
    node.code(address),
  ]);
  const taken = await parts.storage.read(Sends).takenNonces(chain.caip2, lane.lane, count, isShared({ chain, lane }));
  return {
    onTheWay: [...out.values()].reduce((sum, sends) => sum + sends, 0),
    senders: new Set(out.keys()),
    count,
    taken: new Set(taken),
    isSingle: isDelegation(code),
    isAwaited: code === '0x' && (await isSponsoredNow(parts.storage.read, chain, lane.lane)),
  };
}

async function isSponsoredNow(
  read: ReadStores,
  { caip2, operatorAddress }: ChainSettings,
  account: string,
): Promise<boolean> {
  if (operatorAddress === undefined || operatorAddress === account) return false;
  return (await read(Sends).onTheWay(caip2, operatorAddress)).has(account);
}

/**
 * Which of the waiting sends may begin now. Those that may never are failed, for which no node is needed: nobody has to
 * wait for one that is away to learn that it is too late.
 */
export async function readyToBegin(round: Round, waiting: readonly Send[]): Promise<Send[]> {
  const ready: Send[] = [];
  const isWaiting = new Set(waiting.map(({ id }) => id));
  const isAwaited = new Set(waiting.map(({ afterId }) => afterId));
  // What goes on with something begun is first, though what was committed since may have a smaller id. What is behind
  // one that waits keeps its place: a second approval must not overtake the first one's deposit.
  const goesOn = ({ afterId }: Send): boolean => afterId !== undefined && !isWaiting.has(afterId);
  let isHeld = false;
  for (const send of [...waiting.filter(goesOn), ...waiting.filter((one) => !goesOn(one))]) {
    const hindrance = await hindranceOf(round, send);
    if (hindrance === 'later') isHeld = true;
    else if (hindrance !== undefined) await unlessGone(() => fail(round, send, { message: hindrance }));
    else if (!isHeld || hasOwnNonce(send)) {
      ready.push(send);
      isHeld ||= isAwaited.has(send.id);
    }
  }
  return ready;
}

/** It may be there to replace what is in the way. */
const hasOwnNonce = ({ request }: Send): boolean =>
  request.kind === 'ethereum-raw' || (request.kind === 'ethereum' && request.nonce !== undefined);

async function fail(round: Round, send: Send, error: SendError): Promise<Begun> {
  await round.save(send, { ...progressOf(send), state: 'FAILED', error, isOpen: false });
  return 'sent';
}

/** Signs a send, stores it and hands it to a node. */
export async function begin(round: Round, node: EvmNode, send: Send, line: Line): Promise<Begun> {
  const { request } = send;
  if (request.kind === 'solana') return await fail(round, send, { message: 'it is not for this kind of chain' });
  if (request.kind === 'ethereum' && request.nonce === undefined) {
    if (line.isAwaited || line.onTheWay >= (line.isSingle ? 1 : ON_THE_WAY_MAX)) return 'wait';
  }
  const heldSinceMs = round.memory.heldSince.get(send.id);
  round.memory.heldSince.delete(send.id);
  try {
    if (request.kind === 'ethereum-raw') return await beginRaw(round, node, send, request);
    const begun = await beginTransaction(round, node, send, request, line);
    if (begun === 'skip') round.memory.heldSince.set(send.id, heldSinceMs ?? round.parts.elapsed());
    return begun;
  } catch (error) {
    if (error instanceof NotYet) return await hold(round, send, error.message, heldSinceMs);
    if (isPassedOver(round, error))
      return await hold(round, send, 'a stored record that it needs was altered', heldSinceMs);
    // Numbers that no transaction has, which were not noticed before.
    if (error instanceof BaseError) return await fail(round, send, { message: error.shortMessage });
    if (error instanceof Unsendable || error instanceof SignerGone || error instanceof OverBudget)
      return await fail(round, send, { message: error.message });
    if (error instanceof KeyringError && error.code === 'NOT_OPENED') {
      return await fail(round, send, { message: 'the key does not open' });
    }
    throw error;
  }
}

async function hold(round: Round, send: Send, why: string, heldSinceMs: number | undefined): Promise<Begun> {
  const nowMs = round.parts.elapsed();
  const sinceMs = heldSinceMs ?? nowMs;
  if (nowMs - sinceMs >= HELD_MS_MAX) {
    return await fail(round, send, { message: `${why}, for a minute by now; nothing was sent` });
  }
  round.memory.heldSince.set(send.id, sinceMs);
  return 'skip';
}

/** Why it is not sent now, or ever. */
async function hindranceOf({ parts, chain }: Round, send: Send): Promise<string | 'later' | undefined> {
  const nowMs = parts.clock();
  const deadline = send.request.kind === 'ethereum' ? send.request.deadline : undefined;
  if (deadline !== undefined && deadline * 1000 <= nowMs) return 'its deadline passed before it could be sent';
  let sinceMs = send.createdAtMs;
  if (send.afterId !== undefined) {
    const before = await parts.storage.read(Sends).find(send.organizationId, send.afterId);
    if (before === undefined || before.state === 'FAILED') {
      return `the transaction before it failed: ${before?.error?.message ?? 'it is gone'}`;
    }
    if (before.state !== 'INCLUDED') return 'later';
    // Its time begins when it could be sent.
    sinceMs = before.updatedAtMs;
  }
  if (nowMs - sinceMs > chain.sendWithinSeconds * 1000) {
    return `it could not be sent within ${chain.sendWithinSeconds} seconds; nothing was sent`;
  }
  return undefined;
}

async function beginTransaction(
  round: Round,
  node: EvmNode,
  send: Send,
  request: EthereumSendRequest,
  line: Line,
): Promise<Begun> {
  const { chain } = round;
  const made = await draft(round, node, send, request, request.nonce ?? nextNonce(line.count, line.taken));
  const [gas, fees] = await Promise.all([gasOf(node, send, request, made), feesFor(round, node, request)]);
  if (!gas.ok) {
    // What is on its way may be what it needs; without that it is wrong for good. Whoever shares the lane does not
    // wait.
    if (isPaidByOperator(send)) {
      if (line.senders.has(send.sender)) return 'skip';
    } else if (line.onTheWay > 0 && request.nonce === undefined) return 'wait';
    return await fail(round, send, await refusalError(round.parts.storage.read, send, made.to, gas));
  }
  if (request.sponsored !== undefined && gas.gas > chain.sponsoredGasMax) {
    const message = `it needs ${gas.gas} gas, and the operator pays for ${chain.sponsoredGasMax} at most`;
    return await fail(round, send, { message });
  }
  const transaction = transactionOf(made, Number(chain.reference), gas.gas, fees);
  const attempt = await signAttempt(round, send, made.payer, transaction);
  const lastNonce = made.nonce + made.noncesTaken - 1;
  if (!(await handOverFirst(round, node, send, attempt, lastNonce))) return 'sent';
  line.onTheWay += 1;
  line.senders.add(send.sender);
  line.isSingle ||= made.authorizationList.length > 0 && made.payer.by === 'organization';
  for (let taken = 0; taken < made.noncesTaken; taken += 1) line.taken.add(made.nonce + taken);
  return 'sent';
}

type Gas = { readonly ok: true; readonly gas: bigint } | CallRefusal;

async function gasOf(
  node: EvmNode,
  { purpose }: Send,
  { gasLimit }: EthereumSendRequest,
  made: Parameters<typeof estimateOf>[0],
): Promise<Gas> {
  if (gasLimit !== undefined) return { ok: true, gas: BigInt(gasLimit) };
  const estimate = await node.estimateGas(estimateOf(made));
  if (!estimate.ok) return estimate;
  const margin = purpose.startsWith('earn-') ? EARN_GAS_MARGIN : GAS_MARGIN;
  return { ok: true, gas: (estimate.gas * margin) / 100n };
}

/** A transaction that was signed elsewhere has its nonce already. */
async function beginRaw(round: Round, node: EvmNode, send: Send, { raw }: RawSendRequest): Promise<Begun> {
  const hash = keccak256(raw as Hex);
  const nonce = parseTransaction(raw as Hex).nonce ?? 0;
  const attempt = { hash, raw, nonce, signedAtMs: round.parts.clock() };
  await handOverFirst(round, node, send, attempt, nonce);
  return 'sent';
}
