import { chunks } from '../../../lib/collections.ts';
import type { SendId } from '../../../lib/ids.ts';
import type { SolanaNode } from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { costTerms } from '../../send/cost.ts';
import type { Send, SendAttempt, SendRequest } from '../../send/model.ts';
import {
  type LaneSightings,
  OTHERS_SHOWN,
  type OtherTransaction,
  type Sighting,
  type UnsettledLane,
} from '../../send/sighting.ts';
import { NO_BLOCKHASH, withBlockhash } from '../blockhash.ts';
import { highestFee } from '../fee.ts';
import { requiredSigners } from '../signatures.ts';
import { parseWire } from '../solana.ts';
import type { SentWire, SignatureEntry, SolanaHistory } from './history.ts';

/** The clocks of the service that was lost, of this machine and of the chain may differ by as much. */
const CLOCKS_DIFFER_MS = 10 * 60 * 1000;
/** For a clock that says when the restore was: nothing was signed by the lost service since. */
const RESTORE_CLOCK_MS = 60 * 1000;
/** For how many blocks a blockhash serves (Solana, MAX_PROCESSING_AGE). */
const BLOCKHASH_LIFE = 150;
/** Enough slots to have as many blocks in them, though some are skipped. */
const SLOTS_LOOKED_AT = 1000n;
const WIRES_AT_ONCE = 16;

export interface SolanaReviewParts {
  readonly node: SolanaNode;
  readonly history: SolanaHistory;
  readonly nowMs: () => number;
}

/** What a Solana chain says of the sends of an address: by their signatures, and then by what the address has signed. */
export async function solanaSightings(parts: SolanaReviewParts, lane: UnsettledLane): Promise<LaneSightings> {
  const review = new PayerReview(parts, lane);
  try {
    await review.run();
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    review.giveUp(`the nodes of ${lane.caip2} give no usable answer (${error.message})`, true);
  }
  return { sightings: review.sightings, others: review.others };
}

class PayerReview {
  readonly sightings = new Map<SendId, Sighting>();
  readonly others: OtherTransaction[] = [];
  readonly #parts: SolanaReviewParts;
  readonly #lane: UnsettledLane;

  constructor(parts: SolanaReviewParts, lane: UnsettledLane) {
    this.#parts = parts;
    this.#lane = lane;
  }

  async run(): Promise<void> {
    await Promise.all(this.#lane.sends.map((send) => this.#bySignature(send)));
    if (this.#left().length === 0) return;
    const { caip2, lane, snapshotAtMs } = this.#lane;
    // Of one that the backup has not signed, since it was asked for: nobody vouches for the time that a backup says it is of, and
    // what is not found here may be sent again.
    const begun = this.#left().flatMap(({ attempts, createdAtMs }) =>
      attempts.length === 0 ? createdAtMs : attempts.map(({ signedAtMs }) => signedAtMs),
    );
    const sinceMs = Math.min(snapshotAtMs, ...begun) - CLOCKS_DIFFER_MS;
    const list = await this.#parts.history.signatures(lane, sinceMs);
    if (list === 'none') return this.giveUp(`no node of ${caip2} answers with what ${lane} has signed`, true);
    if (list === 'forgotten') {
      const since = new Date(sinceMs).toISOString();
      const because = `no node of ${caip2} keeps the transactions since ${since}: name one in CUSTOS_CHAINS that does`;
      return this.giveUp(`${because}, or look for it in an explorer`, false);
    }
    await this.#among(list.entries);
    const left = this.#left();
    if (left.length === 0) return;
    if (list.upTo === undefined) {
      const because = `${lane} is named in more transactions since the backup than are looked through`;
      return this.giveUp(`${because}: look for it in an explorer of ${caip2}`, false);
    }
    const isOver = await this.#isOver(list.upTo);
    for (const send of left) this.sightings.set(send.id, this.#unseen(send, isOver));
  }

  /** Says of all that is left why nobody knows. */
  giveUp(because: string, isAway: boolean): void {
    for (const { id } of this.#left()) this.sightings.set(id, { kind: 'unknown', because, isAway });
  }

  #left(): Send[] {
    return this.#lane.sends.filter(({ id }) => !this.sightings.has(id));
  }

  /** What was signed before the backup has one form, which lands or expires. What expired may have landed before that. */
  async #bySignature(send: Send): Promise<void> {
    const [attempt] = send.attempts;
    if (attempt === undefined) return;
    const sighting = await this.#ofAttempt(send, attempt);
    if (sighting !== 'expired') this.sightings.set(send.id, sighting);
  }

  async #ofAttempt(send: Send, attempt: SendAttempt): Promise<Sighting | 'expired'> {
    const { node } = this.#parts;
    const { recentBlockhash } = parseWire(Buffer.from(attempt.raw, 'base64').toString('hex')).transaction;
    const sights = await node.lookEverywhere(attempt.hash, recentBlockhash);
    if (sights.length === 0)
      return { kind: 'unknown', because: `no node of ${this.#lane.caip2} answers`, isAway: true };
    const statuses = sights.flatMap(({ status }) => status ?? []);
    const [first] = statuses;
    if (first !== undefined) {
      if (statuses.some(({ err }) => (err === undefined) !== (first.err === undefined)))
        return { kind: 'unknown', because: 'the nodes contradict each other about it', isAway: false };
      if (first.confirmationStatus === 'processed') return { kind: 'pending', attempt, lastNonce: undefined };
      const block = { number: Number(first.slot), isSuccess: first.err === undefined };
      return { kind: 'landed', attempt, block, lastNonce: undefined };
    }
    const last = attempt.lastValidBlockHeight;
    const isOver = sights.every(
      (sight) =>
        sight.status === undefined && !sight.isBlockhashValid && last !== undefined && sight.height > BigInt(last),
    );
    if (isOver) return 'expired';
    if (send.state === 'FAILED') return voided(send, send.error?.message ?? 'it failed before the backup');
    return { kind: 'free', because: 'no block has it, and the same bytes land at most once' };
  }

  /** Those that the address has signed since the backup. */
  async #among(entries: readonly SignatureEntry[]): Promise<void> {
    for (const some of chunks(entries, WIRES_AT_ONCE)) {
      const wires = await Promise.all(some.map((entry) => this.#unknownWire(entry)));
      for (const [index, entry] of some.entries()) {
        const wire = wires[index];
        if (wire !== undefined) this.#assign(entry, wire);
      }
      if (this.#left().length === 0) return;
    }
  }

  /** Undefined for what is stored already, and for what others have signed and only names the address. */
  async #unknownWire({ signature }: SignatureEntry): Promise<SentWire | undefined> {
    const isLeft = this.#left().some((send) => hasSignature(send, signature));
    const isStored = this.#lane.sends.some((send) => hasSignature(send, signature));
    if (!isLeft && (isStored || (await this.#lane.isKnown(signature)))) return undefined;
    const wire = await this.#parts.history.transaction(signature);
    return wire !== undefined && requiredSigners(wire).includes(this.#lane.lane) ? wire : undefined;
  }

  #assign(entry: SignatureEntry, wire: SentWire): void {
    const left = this.#left();
    const send =
      left.find((one) => hasSignature(one, entry.signature)) ??
      left.find(({ request, attempts }) => attempts.length === 0 && isSameMessage(request, wire));
    if (send !== undefined) this.sightings.set(send.id, this.#landed(send, entry, wire));
    else if (this.others.length < OTHERS_SHOWN) {
      const says = `calls ${wire.transaction.programKeys.join(', ')}`;
      this.others.push({ hash: entry.signature, block: entry.slot, says });
    }
  }

  #landed(send: Send, { signature, slot, isSuccess }: SignatureEntry, wire: SentWire): Sighting {
    const { node, nowMs } = this.#parts;
    const attempt = send.attempts.find(({ hash }) => hash === signature) ?? {
      hash: signature,
      raw: wire.raw.toString('base64'),
      signedAtMs: nowMs(),
      ...costTerms(node.chain, send, highestFee(wire.transaction)),
    };
    return { kind: 'landed', attempt, block: { number: slot, isSuccess }, lastNonce: undefined };
  }

  /** Whether no blockhash that the lost service may have signed over served any more at a slot. */
  async #isOver(upTo: bigint): Promise<boolean> {
    const { node, history } = this.#parts;
    const finalized = await node.slot('finalized');
    const last = finalized < upTo ? finalized : upTo;
    const first = last > SLOTS_LOOKED_AT ? last - SLOTS_LOOKED_AT : 0n;
    const slots = await node.slotsWithBlocks(first, last, 'finalized');
    // It is newer than whatever was signed over before the restore, and has as many blocks behind it.
    const old = slots.at(-1 - BLOCKHASH_LIFE);
    if (old === undefined) return false;
    return (await history.blockTime(old)) > this.#lane.restoredAtMs + RESTORE_CLOCK_MS;
  }

  #unseen(send: Send, isOver: boolean): Sighting {
    const { request, attempts } = send;
    if (request.kind !== 'solana') return voided(send, 'it is not for this kind of chain');
    if (attempts.length > 0) return voided(send, 'its blockhash expired, and no block has it');
    const nothing = `nothing that ${this.#lane.lane} has signed since the backup says this`;
    if (!request.takesFreshBlockhash) {
      const because = `${nothing}, and with the blockhash that it came with it lands at most once`;
      return { kind: 'free', because };
    }
    if (isOver) return voided(send, `${nothing}, and no blockhash from before the restore serves any more`);
    return {
      kind: 'unseen',
      because: `${nothing}, and what the lost service may have signed last expires some two minutes after the restore: review again then`,
    };
  }
}

const hasSignature = ({ attempts }: Send, signature: string): boolean =>
  attempts.some(({ hash }) => hash === signature);

const voided = ({ request }: Send, because: string): Sighting => ({
  kind: 'void',
  because,
  canBeginAnew: request.kind === 'solana' && request.takesFreshBlockhash,
});

/** Whether a transaction says what was asked for: the blockhash may be any where the dispatcher chooses it. */
function isSameMessage(request: SendRequest, wire: SentWire): boolean {
  if (request.kind !== 'solana') return false;
  const { transaction, takesFreshBlockhash } = request;
  const { message } = parseWire(transaction);
  if (!takesFreshBlockhash) return Buffer.compare(message, wire.message) === 0;
  const plain = (one: Uint8Array): Uint8Array => withBlockhash(one, NO_BLOCKHASH);
  return Buffer.compare(plain(message), plain(wire.message)) === 0;
}
