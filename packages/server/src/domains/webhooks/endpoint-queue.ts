import type { Clock } from '../../lib/clock.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEndpointId } from '../../lib/ids.ts';
import { isDone } from '../../storage/integrity/apart.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Claim } from '../../workers/claim.ts';
import type { Lease } from '../../workers/lease.ts';
import type { Describer } from './describer.ts';
import type { Gate } from './gate.ts';
import type { DueDelivery, WebhookEndpoint } from './model.ts';
import type { Recorder } from './recorder.ts';
import { type Attempted, resultOf } from './result.ts';
import type { SignedPosting, WebhookSender } from './sender.ts';
import { BATCH_LENGTH_MAX, type RefusedDelivery } from './store/due-deliveries.ts';
import { WebhookReader } from './store/webhook-reader.ts';
import { WebhookStore } from './store/webhooks.ts';

/** What is read at once. Retries get a part of it, so that a receiver that never keeps up does not starve them. */
const BATCH = { fresh: 96, retries: 32 };
const PROBE = { fresh: 1, retries: 1 };
/** From then on the receiver does not keep up, and several are sent at a time, no longer in strict order. */
const CROWD = 32;
const WIDTH = 16;
/** So many at least are signed meanwhile, so that neither the keyring nor the receivers wait for each other. */
const SIGNED_AHEAD = 8;
/** As many are signed at once, because a call of the keyring costs more than a signature. */
const SIGNED_TOGETHER = 16;
/** One that had to wait for longer is signed once more. */
const SIGNED_MS_MAX = 1000;
/** After that long the endpoint is read again: it may have been changed or switched off. */
const BATCH_MS = 2000;
/** How long a queue without work is kept, so that the next event need not claim it again. */
const LINGER_MS = 1000;
/** When it looks meanwhile for what other processes have stored; each time after twice as long. */
const LOOK_AFTER_MS = 100;
/** So many failures in a row, and the endpoint is given rests and one delivery at a time. */
export const TROUBLED_AT = 3;
const REST_MS = 1000;
const REST_MS_MAX = 60_000;
/** So long nothing is sent of a delivery that is not genuine: it is reported each time that it is looked at. */
const ASIDE_MS = 60 * 60 * 1000;
/** The longest rest that a receiver can ask for all its deliveries by Retry-After. */
const ASKED_REST_MS_MAX = 60_000;

export interface QueueParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly elapsed: Clock;
  readonly send: WebhookSender;
  /** Puts into words what has to be before it is sent. */
  readonly describe: Describer;
  readonly recorder: Recorder;
  /** Those that have much in memory go through it. */
  readonly large: Gate;
}

export interface QueueClaim extends Claim {
  readonly key: WebhookEndpointId;
  readonly organizationId: OrganizationId;
  /** Attempts in a row that failed. */
  readonly failures: number;
}

/** How a queue is left. */
export interface QueueEnd {
  readonly failures: number;
  readonly restingUntilMs: number;
}

interface Line {
  readonly delivery: DueDelivery;
  readonly posting: Promise<SignedPosting>;
}

/** The deliveries of one endpoint, one after the other, for as long as this process holds its queue. */
export class EndpointQueue {
  readonly #parts: QueueParts;
  readonly #lease: Lease<QueueClaim>;
  #failures: number;
  #restMs = 0;
  /** What was sent and is being written down: until then the queue still has it. */
  readonly #inHand = new Map<WebhookDeliveryId, Promise<void>>();
  readonly #errors: unknown[] = [];
  /** First attempts are read behind this one, so that the queue need not wait for those in hand; 0 for the front. */
  #behind = 0;
  #frontAtMs = performance.now();

  constructor(parts: QueueParts, lease: Lease<QueueClaim>) {
    this.#parts = parts;
    this.#lease = lease;
    this.#failures = lease.claim.failures;
  }

  get #isTroubled(): boolean {
    return this.#failures >= TROUBLED_AT;
  }

  async run(): Promise<QueueEnd> {
    const { clock } = this.#parts;
    try {
      await this.#rounds();
    } finally {
      // Whoever has the queue next would send them again.
      await this.#settle();
    }
    if (this.#errors.length > 0) throw this.#errors[0];
    return { failures: this.#failures, restingUntilMs: this.#restMs === 0 ? 0 : clock() + this.#restMs };
  }

  async #rounds(): Promise<void> {
    const { storage } = this.#parts;
    let idleSinceMs = performance.now();
    let lookAfterMs = LOOK_AFTER_MS;
    while (!this.#lease.isOver && !this.#lease.isWanted) {
      this.#lease.listen();
      const isWorking = await this.#round();
      if (this.#restMs > 0 || this.#errors.length > 0) return;
      if (isWorking) {
        idleSinceMs = performance.now();
        lookAfterMs = LOOK_AFTER_MS;
      } else if (!this.#lease.isWoken && performance.now() - idleSinceMs >= LINGER_MS) return;
      else {
        await this.#lease.rest(storage.kind === 'sqlite' ? LINGER_MS : lookAfterMs);
        lookAfterMs *= 2;
      }
    }
  }

  /** Sends what is due; false when nothing was. */
  async #round(): Promise<boolean> {
    let leave = (): void => {};
    const enter = async (length: number): Promise<void> => {
      if (length > BATCH_LENGTH_MAX) leave = await this.#parts.large.enter();
    };
    try {
      const { batch, refused } = await this.#batch(enter);
      await this.#setAside(refused);
      if (batch.length === 0) return (await this.#backToFront()) || refused.length > 0;
      // Now, because the way in may have taken long.
      const endpoint = await this.#endpoint();
      if (endpoint?.isActive !== true) return false;
      if (this.#lease.isOver) return true;
      const before = [...this.#inHand.values()];
      const count = batch.length;
      const lastSeq = batch.findLast(({ nextAttemptAtMs }) => nextAttemptAtMs === 0)?.seq;
      const isAllBegun = await this.#sendAll(endpoint, batch);
      // What was in hand before this batch bounds how much there is at a time.
      await Promise.all(before);
      if (isAllBegun && lastSeq !== undefined && this.#mayReadOn(count)) this.#behind = lastSeq;
      else await this.#backToFront();
      return true;
    } finally {
      leave();
    }
  }

  /** Where it is sent to. To one that is not what the service wrote nothing is, and it is looked at less and less often. */
  async #endpoint(): Promise<WebhookEndpoint | undefined> {
    const { organizationId, key: endpointId } = this.#lease.claim;
    let endpoint: WebhookEndpoint | undefined;
    const isGenuine = await isDone(async () => {
      endpoint = await this.#parts.storage.read(WebhookReader).findEndpoint(organizationId, endpointId);
    });
    if (!isGenuine) {
      // In trouble at once: it takes no place of others.
      this.#failures = Math.max(this.#failures + 1, TROUBLED_AT);
      this.#rest(REST_MS);
    }
    return endpoint;
  }

  /** What is due and not in hand, as it is sent. */
  async #batch(
    enter: (length: number) => Promise<void>,
  ): Promise<{ readonly batch: DueDelivery[]; readonly refused: readonly RefusedDelivery[] }> {
    const { storage, clock, describe } = this.#parts;
    const { organizationId, key: endpointId } = this.#lease.claim;
    const limits = { ...(this.#isTroubled ? PROBE : BATCH), behind: this.#behind };
    // From before the read: what is written down while it goes on is still due in what it finds.
    const inHand = new Set(this.#inHand.keys());
    const found = await storage.read(WebhookReader).batch(organizationId, endpointId, clock(), limits, enter);
    const batch = await describe(found.due.filter(({ id }) => !inHand.has(id)));
    return { batch, refused: found.refused };
  }

  /** Others of the endpoint take their places. */
  async #setAside(refused: readonly RefusedDelivery[]): Promise<void> {
    if (refused.length === 0) return;
    const { storage, clock } = this.#parts;
    const untilMs = clock() + ASIDE_MS;
    await storage.write((store) => store(WebhookStore).setAside(this.#lease.claim.key, refused, untilMs));
  }

  /**
   * Whether there may be more behind the batch. Now and then it is looked for in front again: there may be what was
   * stored by a transaction that took longer than one behind it.
   */
  #mayReadOn(length: number): boolean {
    return length >= CROWD && performance.now() - this.#frontAtMs < BATCH_MS;
  }

  /** The next round begins at the front of the queue; false when this one did, and nothing is in hand. */
  async #backToFront(): Promise<boolean> {
    const isElsewhere = this.#behind > 0 || this.#inHand.size > 0;
    await this.#settle();
    this.#behind = 0;
    this.#frontAtMs = performance.now();
    return isElsewhere;
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#inHand.values());
  }

  /**
   * False when not all of them were begun, or the endpoint is gone: then nothing must be read before that is stored. Takes
   * them out of the batch, because their bodies are long.
   */
  async #sendAll(endpoint: WebhookEndpoint, batch: DueDelivery[]): Promise<boolean> {
    const count = batch.length;
    const isCrowd = count >= CROWD;
    const width = isCrowd ? WIDTH : 1;
    const startedAt = performance.now();
    let begun = 0;
    let isGone = false;
    const line = isCrowd
      ? this.#signAhead(endpoint, batch, SIGNED_AHEAD, SIGNED_TOGETHER)
      : this.#signAhead(endpoint, batch, 0, 1);
    const work = async (): Promise<void> => {
      for (const { delivery, posting } of line) {
        begun += 1;
        const attempted = await this.#attempt(endpoint, delivery, posting);
        if (this.#lease.isEnding && attempted.attempt.status === undefined) return;
        this.#record(endpoint, attempted);
        this.#note(attempted);
        isGone ||= attempted.outcome === 'gone';
        if (this.#restMs > 0 || isGone || this.#errors.length > 0 || this.#lease.isOver) return;
        if (performance.now() - startedAt > BATCH_MS) return;
      }
    };
    // Each takes the next one from the same queue; whoever stops leaves the rest for the next round.
    await Promise.all(Array.from({ length: width }, () => work().catch((error) => this.#errors.push(error))));
    return begun === count && !isGone;
  }

  #record(endpoint: WebhookEndpoint, attempted: Attempted): void {
    const { id } = attempted.delivery;
    const recorded = this.#parts.recorder
      .record(endpoint, attempted)
      .catch((error) => {
        this.#errors.push(error);
      })
      .then(() => {
        this.#inHand.delete(id);
      });
    this.#inHand.set(id, recorded);
  }

  /**
   * Takes the deliveries in their order; when fewer than `ahead` behind the one that is taken are signed, some more
   * are.
   */
  *#signAhead(endpoint: WebhookEndpoint, batch: DueDelivery[], ahead: number, together: number): Generator<Line> {
    const signed: Line[] = [];
    while (signed.length + batch.length > 0) {
      if (signed.length <= ahead) {
        const next = batch.splice(0, together);
        signed.push(...next.map((delivery) => ({ delivery, posting: this.#sign(endpoint, delivery) })));
      }
      yield signed.shift() as Line;
    }
  }

  #sign(endpoint: WebhookEndpoint, { eventId: id, eventType: type, aboutId, body }: DueDelivery) {
    const posting = this.#parts.send(endpoint, { id, type, aboutId, body });
    // Who takes it hears of it; nobody may, and that is no concern of the process.
    posting.catch(() => {});
    return posting;
  }

  async #attempt(endpoint: WebhookEndpoint, delivery: DueDelivery, signed: Promise<SignedPosting>): Promise<Attempted> {
    const { clock, elapsed } = this.#parts;
    const first = await signed;
    const isFresh = elapsed() - first.signedAtMs <= SIGNED_MS_MAX;
    const posting = isFresh ? first : await this.#sign(endpoint, delivery);
    const atMs = clock();
    const receipt = await posting.post();
    // What is kept until it is written down needs no body.
    const { body: _, ...rest } = delivery;
    return resultOf(rest, receipt, atMs, clock(), Math.random());
  }

  /** One endpoint's trouble must cost others nothing: who fails in a row, or asks for it, is left alone for a while. */
  #note({ outcome, retryAfterMs = 0 }: Attempted): void {
    // Whoever answers is there, also with a refusal: that delays its own delivery and no other.
    if (outcome !== 'retry') {
      this.#failures = 0;
      this.#lease.leaveGroup();
      return;
    }
    // Several may have been under way when it began to fail; together they are one failure more.
    if (this.#restMs > 0) return;
    this.#failures += 1;
    this.#rest(Math.min(retryAfterMs, ASKED_REST_MS_MAX));
  }

  #rest(leastMs: number): void {
    const ownMs = this.#isTroubled ? Math.min(REST_MS * 2 ** (this.#failures - TROUBLED_AT), REST_MS_MAX) : 0;
    this.#restMs = Math.max(ownMs, leastMs);
  }
}
