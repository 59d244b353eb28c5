import { setTimeout as pause } from 'node:timers/promises';
import { type Hex as AnyHex, encodeEventTopics, keccak256, parseTransaction } from 'viem';
import { chunks } from '../../../lib/collections.ts';
import type { SendId } from '../../../lib/ids.ts';
import type { Hex } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { laneAddress, type Send, type SendAttempt } from '../../send/model.ts';
import {
  type LaneSightings,
  OTHERS_SHOWN,
  type OtherTransaction,
  type Sighting,
  type UnsettledLane,
} from '../../send/sighting.ts';
import { custosBatchAbi } from '../contract-artifacts.ts';
import { describeTransaction, type EvmParts, landedSighting, sightingOf } from './attempt.ts';
import { lacksState, type SentCounts } from './history.ts';
import { isDeedOf, ownNonceOf } from './match.ts';
import type { SentTransaction } from './signed-transaction.ts';
import { blockAt, type CountAt, usedNonces } from './used-nonces.ts';

const SENDS_AT_ONCE = 16;
/** More transactions of one address are not looked through. */
const USED_MAX = 5000;
/** The clocks of the service that was lost, of this machine and of the chain may differ by as much. */
const CLOCKS_DIFFER_MS = 10 * 60 * 1000;
/** Nodes that follow a chain are level again within a block or two. */
const COUNTS_TRIES = 4;
const COUNTS_PAUSE_MS = 700;

/** What an EVM chain says of the sends of an address: by the hashes that are known, and then by its nonces. */
export async function ethereumSightings(parts: EvmParts, lane: UnsettledLane): Promise<LaneSightings> {
  const review = new LaneReview(parts, lane);
  try {
    await review.run();
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    review.giveUp(`the nodes of ${lane.caip2} give no usable answer (${error.message})`, true);
  }
  return { sightings: review.sightings, others: review.others };
}

class LaneReview {
  readonly sightings = new Map<SendId, Sighting>();
  readonly others: OtherTransaction[] = [];
  readonly #parts: EvmParts;
  readonly #lane: UnsettledLane;
  readonly #address: Hex;

  constructor(parts: EvmParts, lane: UnsettledLane) {
    this.#parts = parts;
    this.#lane = lane;
    this.#address = laneAddress(lane.lane) as Hex;
  }

  async run(): Promise<void> {
    for (const some of chunks(this.#lane.sends, SENDS_AT_ONCE))
      await Promise.all(some.map((send) => this.#byHash(send)));
    for (const some of chunks(this.#left(), SENDS_AT_ONCE)) await Promise.all(some.map((send) => this.#byBatch(send)));
    if (this.#left().length === 0) return;
    const counts = await this.#counts();
    if (counts === undefined) return;
    await this.#amongWaiting(counts);
    await this.#amongUsed(counts);
    for (const send of this.#left()) this.sightings.set(send.id, this.#unseen(send, counts));
  }

  /** Says of sends why nobody knows; of all that are left unless told. */
  giveUp(because: string, isAway: boolean, sends: readonly Send[] = this.#left()): void {
    for (const { id } of sends) this.sightings.set(id, { kind: 'unknown', because, isAway });
  }

  #left(): Send[] {
    return this.#lane.sends.filter(({ id }) => !this.sightings.has(id));
  }

  /** By the transactions that the database knows of it. */
  async #byHash(send: Send): Promise<void> {
    const attempts = attemptsOf(send, this.#parts.nowMs());
    if (attempts.length === 0) return;
    const landed = await landedSighting(this.#parts, { ...send, attempts });
    if (landed?.kind === 'landed' && landed.attempt.isEmpty)
      this.sightings.set(send.id, voided(send, `an empty transaction took its nonce: ${landed.attempt.hash}`));
    else if (landed !== undefined) this.sightings.set(send.id, landed);
    else if (send.state === 'FAILED') {
      // It is not handed over again, and watched for a while, as it was before the backup.
      this.sightings.set(send.id, voided(send, send.error?.message ?? 'it failed before the backup'));
    }
  }

  /** A batch that the operator carries tells of itself under the account, for which no node has to know old states. */
  async #byBatch(send: Send): Promise<void> {
    const { request, sender, createdAtMs } = send;
    const { history, node } = this.#parts;
    if (request.kind !== 'ethereum' || request.sponsored === undefined) return;
    const args = { nonce: BigInt(request.sponsored.batchNonce) };
    const topics = encodeEventTopics({ abi: custosBatchAbi, eventName: 'NonceUsed', args }) as Hex[];
    const head = await history.block('latest');
    if (head === undefined) return;
    const fromBlock = await blockAt(history, createdAtMs - CLOCKS_DIFFER_MS, head);
    try {
      const [log] = await node.logs({ address: sender as Hex, topics, fromBlock, toBlock: head.number });
      const transaction = log && (await history.transaction(log.transactionHash));
      if (transaction !== undefined && isDeedOf(send, transaction))
        this.sightings.set(send.id, await sightingOf(this.#parts, send, transaction));
    } catch (error) {
      // Some nodes do not look through as many blocks: the operator's nonces tell it too.
      if (!(error instanceof NodeError)) throw error;
    }
  }

  /** What all nodes say alike; undefined, with all sends unknown, where they do not. */
  async #counts(): Promise<SentCounts | undefined> {
    let latest: number[] = [];
    for (let tried = 1; tried <= COUNTS_TRIES; tried += 1) {
      const told = await this.#parts.history.counts(this.#address);
      const [first] = told;
      if (first === undefined) {
        this.giveUp(`no node of ${this.#lane.caip2} answers`, true);
        return undefined;
      }
      latest = [...new Set(told.map((one) => one.latest))].sort((one, other) => one - other);
      if (latest.length === 1)
        return { latest: first.latest, pending: Math.max(...told.map(({ pending }) => pending)) };
      if (tried < COUNTS_TRIES) await pause(COUNTS_PAUSE_MS);
    }
    this.giveUp(
      `the nodes do not agree on how many transactions ${this.#address} has made: they say ${latest.join(' and ')}; one of them may be behind`,
      false,
    );
    return undefined;
  }

  /** Those that a node has and no block. */
  async #amongWaiting({ latest, pending }: SentCounts): Promise<void> {
    const all = await this.#parts.history.waiting(this.#address);
    const waiting = all.filter(({ nonce }) => nonce >= latest);
    for (const transaction of waiting) await this.#assign(transaction.nonce, undefined, transaction);
    const shown = new Set(waiting.map(({ nonce }) => nonce));
    let hidden = 0;
    for (let nonce = latest; nonce < pending; nonce += 1) if (!shown.has(nonce)) hidden += 1;
    if (hidden === 0) return;
    // What waits unseen may be any of those that have no nonce yet.
    const concerned = this.#left().filter((send) => {
      const own = ownNonceOf(send);
      return own === undefined || (own >= latest && own < pending && !shown.has(own));
    });
    this.giveUp(
      `a node has ${hidden} of the transactions of ${this.#address} that wait for a block, and does not show which: review again once they are in blocks`,
      false,
      concerned,
    );
  }

  /** Those whose nonces blocks have taken since the backup. */
  async #amongUsed({ latest }: SentCounts): Promise<void> {
    const concerned = this.#left().filter((send) => (ownNonceOf(send) ?? 0) < latest);
    if (concerned.length === 0 || this.#lane.knownCount === latest) return;
    const range = await this.#range(concerned, latest);
    if (range === undefined) return;
    const { from, to } = range;
    for await (const { nonce, block, transaction } of usedNonces(this.#parts.history, this.#address, from, to)) {
      await this.#assign(nonce, block, transaction);
      if (this.#left().length === 0) return;
    }
  }

  /** From the backup, or the first signature of a send that was under way in it, until now. */
  async #range(concerned: readonly Send[], latest: number): Promise<{ from: CountAt; to: CountAt } | undefined> {
    const { history } = this.#parts;
    const { caip2, snapshotAtMs } = this.#lane;
    const head = await history.block('latest');
    if (head === undefined) throw new NodeError('unavailable', 'the node has no latest block');
    const signed = concerned.flatMap(({ attempts }) => attempts.map(({ signedAtMs }) => signedAtMs));
    const sinceMs = Math.min(snapshotAtMs, ...signed) - CLOCKS_DIFFER_MS;
    const block = await blockAt(history, sinceMs, head);
    try {
      const [before, now] = await Promise.all([
        history.countAt(this.#address, block),
        history.countAt(this.#address, head.number),
      ]);
      if (now < latest) {
        this.giveUp('the nodes contradict each other, one may be behind: review again in a moment', false, concerned);
      } else if (now - before > USED_MAX) {
        const made = `${this.#address} has made ${now - before} transactions since the backup`;
        const because = `${made}, and no more than ${USED_MAX} are looked through: look for it in an explorer of ${caip2}`;
        this.giveUp(because, false, concerned);
      } else return { from: { block, count: before }, to: { block: head.number, count: now } };
    } catch (error) {
      if (!lacksState(error)) throw error;
      const since = new Date(sinceMs).toISOString();
      this.giveUp(
        `${this.#address} has made ${latest} transactions by now, and no node of ${caip2} remembers how many it had made at block ${block} (${since}): name a node in CUSTOS_CHAINS that keeps old states (an archive node), or look for it in an explorer`,
        false,
        concerned,
      );
    }
    return undefined;
  }

  /** Gives a transaction, in a block or waiting for one, to the send that it is, if any; and its nonce to no other. */
  async #assign(nonce: number, block: bigint | undefined, transaction: SentTransaction | undefined): Promise<void> {
    const owner = transaction && (await this.#ownerOf(transaction));
    if (typeof owner === 'object' && transaction !== undefined)
      this.sightings.set(owner.id, await sightingOf(this.#parts, owner, transaction));
    if (block !== undefined) this.#voidOthersAt(nonce, block, transaction);
    if (owner !== undefined || transaction === undefined || this.others.length >= OTHERS_SHOWN) return;
    this.others.push({
      hash: transaction.hash,
      nonce,
      block: block === undefined ? undefined : Number(block),
      says: describeTransaction(transaction, this.#lane.caip2),
    });
  }

  /**
   * The send that a transaction is: by its hash or its nonce where these are known, and otherwise the first that asks for this.
   * One that is stored already is not what another send became. Undefined for one that the database does not know.
   */
  async #ownerOf(transaction: SentTransaction): Promise<Send | 'settled' | undefined> {
    const hasIt = ({ attempts }: Send): boolean => attempts.some(({ hash }) => hash === transaction.hash);
    const left = this.#left();
    const known = left.find(hasIt);
    if (known !== undefined) return known;
    if (this.#lane.sends.some(hasIt) || (await this.#lane.isKnown(transaction.hash))) return 'settled';
    const fitting = left.filter((send) => {
      const own = ownNonceOf(send);
      return (own === undefined || own === transaction.nonce) && isDeedOf(send, transaction);
    });
    return fitting.find((send) => ownNonceOf(send) !== undefined) ?? fitting[0];
  }

  #voidOthersAt(nonce: number, block: bigint, transaction: SentTransaction | undefined): void {
    const taker = transaction === undefined ? 'an authorization' : `another transaction of ${this.#address}`;
    const hash = transaction === undefined ? '' : `${transaction.hash} `;
    for (const send of this.#left()) {
      if (ownNonceOf(send) !== nonce) continue;
      this.sightings.set(send.id, voided(send, `${taker} took its nonce ${nonce}: ${hash}in block ${block}`));
    }
  }

  /** No block has it and no node shows it. */
  #unseen(send: Send, { latest }: SentCounts): Sighting {
    const { request } = send;
    const own = ownNonceOf(send);
    if (own !== undefined) {
      return own < latest
        ? voided(send, `another transaction of ${this.#address} took its nonce ${own}`)
        : {
            kind: 'free',
            because: `no transaction has taken its nonce ${own}, so that one of its forms lands at most`,
          };
    }
    if (request.kind === 'ethereum' && request.sponsored !== undefined) {
      return { kind: 'free', because: 'its batch was not run, and is run once at most' };
    }
    return {
      kind: 'unseen',
      because: `no transaction of ${this.#address} since the backup does this, in a block or at a node; one that the lost service signed and no node shows could still land`,
    };
  }
}

const voided = ({ request }: Send, because: string): Sighting => ({
  kind: 'void',
  because,
  canBeginAnew: request.kind === 'ethereum' && request.nonce === undefined,
});

/** What was signed, or came signed. */
function attemptsOf({ attempts, request }: Send, nowMs: number): readonly SendAttempt[] {
  if (attempts.length > 0 || request.kind !== 'ethereum-raw') return attempts;
  const raw = request.raw as AnyHex;
  return [{ hash: keccak256(raw), raw, nonce: parseTransaction(raw).nonce ?? 0, signedAtMs: nowMs }];
}
