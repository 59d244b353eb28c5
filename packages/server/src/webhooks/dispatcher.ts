import type { Clock } from '../lib/clock.ts';
import { randomId, type WebhookEndpointId } from '../lib/ids.ts';
import type { Storage } from '../storage/storage.ts';
import { Lane, type LaneClaim, type LaneEnd, type LaneParts, TROUBLED_AT } from './lane.ts';
import { createRecorder, type DeliveryObserver, type Recorder } from './recorder.ts';
import type { WebhookSender } from './sender.ts';

const POLL_EVERY_MS = 1000;
/** How long a lane is claimed, and how often the claim is made longer: who is killed is followed after the first. */
const CLAIM_MS = 10_000;
const RENEW_EVERY_MS = 3000;
/** How many endpoints are served at once; of those in trouble fewer, so that they cannot take all places. */
const LANES_MAX = 256;
const TROUBLED_LANES_MAX = 64;
/** Until a lane is tried again whose database or keyring was away. */
const AWAY_MS = 5000;
const STOP_MS_MAX = 6000;

export interface DispatcherParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly send: WebhookSender;
  readonly observe: DeliveryObserver;
  /** Breaks off what is being sent. */
  readonly breakOff: () => Promise<void>;
  /** Deletes what is kept no longer; called with every poll. */
  readonly sweep: () => Promise<void>;
}

/**
 * Sends what transactions have stored, with any number of processes at it. Each endpoint has a lane that one process
 * holds at a time, so that its deliveries keep their order and a slow one delays nobody else. A delivery stays stored
 * until its receiver has answered: it is never lost, and repeated with the same event id by whoever dies in between.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #laneParts: LaneParts;
  readonly #owner: string = randomId();
  readonly #lanes = new Map<WebhookEndpointId, Lane>();
  readonly #running = new Map<WebhookEndpointId, Promise<void>>();
  readonly #woken = new Set<WebhookEndpointId>();
  /** Those in trouble that have a place and no lane yet. */
  readonly #awaited = new Set<WebhookEndpointId>();
  /** The last endpoint that was looked at when all places were taken. */
  #lookedUntil: WebhookEndpointId | '' = '';
  /** Aborted when a stop has waited long enough. */
  readonly #end = new AbortController();
  #state: 'new' | 'running' | 'stopping' = 'new';
  #timer: NodeJS.Timeout | undefined;
  #polling = Promise.resolve();
  #lookAfter: WebhookEndpointId | '' = '';
  #renewAtMs = 0;
  #isAway = false;
  #stopped: Promise<void> | undefined;

  constructor(parts: DispatcherParts) {
    const { storage, clock, send, observe } = parts;
    const recorder: Recorder = createRecorder(storage, clock, observe, this.#end.signal);
    this.#parts = parts;
    this.#laneParts = { storage, clock, send, recorder };
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#polling = this.#releaseAbandoned().then(() => this.#poll());
  }

  /** To be called after a commit with deliveries in it, with their endpoints; without any it looks for all that are due. */
  wake(endpointIds?: readonly WebhookEndpointId[]): void {
    if (this.#state !== 'running') return;
    if (endpointIds === undefined) {
      for (const lane of this.#lanes.values()) lane.wake();
      void this.#guard(() => this.#look());
      return;
    }
    for (const endpointId of endpointIds) {
      const lane = this.#lanes.get(endpointId);
      if (lane !== undefined) lane.wake();
      else if (this.#woken.size < LANES_MAX) this.#woken.add(endpointId);
    }
    this.#claimWoken();
  }

  /** Begins nothing new, finishes what is being sent, and breaks it off when that takes too long. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const wasRunning = this.#state === 'running';
    this.#state = 'stopping';
    clearTimeout(this.#timer);
    for (const lane of this.#lanes.values()) lane.end();
    const breakOff = setTimeout(() => {
      this.#end.abort();
      void this.#parts.breakOff();
    }, STOP_MS_MAX);
    await this.#polling;
    await Promise.all(this.#running.values());
    clearTimeout(breakOff);
    if (wasRunning)
      await this.#guard(() => this.#parts.storage.write((store) => store.webhooks.releaseOwner(this.#owner)));
    await this.#parts.breakOff();
  }

  /** The embedded database has one process: who else holds a lane was killed. */
  async #releaseAbandoned(): Promise<void> {
    const { storage } = this.#parts;
    if (storage.kind === 'sqlite') await this.#guard(() => storage.write((store) => store.webhooks.releaseAllLanes()));
  }

  async #poll(): Promise<void> {
    if (this.#state !== 'running') return;
    await this.#guard(async () => {
      await this.#renew();
      await this.#look();
      await this.#parts.sweep();
      this.#isAway = false;
    });
    if (this.#state !== 'running') return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll();
    }, POLL_EVERY_MS).unref();
  }

  async #renew(): Promise<void> {
    const { storage, clock } = this.#parts;
    const nowMs = clock();
    if (this.#lanes.size === 0 || nowMs < this.#renewAtMs) return;
    this.#renewAtMs = nowMs + RENEW_EVERY_MS;
    const untilMs = nowMs + CLAIM_MS;
    const before = new Map(this.#lanes);
    const held = new Set(await storage.write((store) => store.webhooks.renewLanes(this.#owner, nowMs, untilMs)));
    for (const [endpointId, lane] of before) {
      if (held.has(endpointId)) lane.keep(untilMs);
      else lane.end();
    }
    // One that is held and has nobody at it could not be given back when its work was done.
    for (const endpointId of held) if (!this.#running.has(endpointId)) this.#woken.add(endpointId);
  }

  /** Begins where it ended when there were more than it had places for, so that nobody waits for ever. */
  async #look(): Promise<void> {
    const { storage, clock } = this.#parts;
    for (let isMore = true; isMore && this.#state === 'running'; ) {
      const due = await storage.read.webhooks.dueLanes(clock(), LANES_MAX, this.#lookedUntil);
      for (const { endpointId, failures } of due) {
        if (failures < TROUBLED_AT) this.#woken.add(endpointId);
        else if (this.#hasPlaceForTroubled()) {
          this.#awaited.add(endpointId);
          this.#woken.add(endpointId);
        }
      }
      const places = LANES_MAX - this.#running.size;
      this.#claimWoken();
      isMore = due.length === LANES_MAX && places > 0;
      this.#lookedUntil = due.length === LANES_MAX ? (due.at(-1)?.endpointId ?? '') : '';
      if (due.length > places) this.#makeRoom(due.length - places);
    }
  }

  #hasPlaceForTroubled(): boolean {
    const lanes = [...this.#lanes.values()].filter((lane) => lane.isTroubled);
    return lanes.length + this.#awaited.size < TROUBLED_LANES_MAX;
  }

  /** Lets those that have had their places for longest go when they have done what they are at. */
  #makeRoom(count: number): void {
    for (const lane of [...this.#lanes.values()].slice(0, count)) lane.leave();
  }

  /** Those that find no place are found again by a poll. */
  #claimWoken(): void {
    for (const endpointId of this.#woken) {
      if (this.#running.has(endpointId)) continue;
      this.#woken.delete(endpointId);
      if (this.#state !== 'running' || this.#running.size >= LANES_MAX) {
        this.#awaited.delete(endpointId);
        continue;
      }
      const done = this.#guard(() => this.#serve(endpointId)).finally(() => {
        this.#running.delete(endpointId);
        this.#awaited.delete(endpointId);
        // It may have been woken while it was being left.
        this.#claimWoken();
      });
      this.#running.set(endpointId, done);
    }
  }

  async #serve(endpointId: WebhookEndpointId): Promise<void> {
    const { storage, clock } = this.#parts;
    const nowMs = clock();
    const untilMs = nowMs + CLAIM_MS;
    const claim = await storage.write((store) => store.webhooks.claimLane(endpointId, this.#owner, nowMs, untilMs));
    if (claim === undefined) return;
    // Woken by a new event, it may be one too many of those in trouble.
    const isOneTooMany =
      claim.failures >= TROUBLED_AT && !this.#awaited.has(endpointId) && !this.#hasPlaceForTroubled();
    const end = isOneTooMany
      ? { failures: claim.failures, restingUntilMs: 0 }
      : await this.#travel({ endpointId, ...claim }, untilMs);
    await storage.write((store) => store.webhooks.releaseLane(endpointId, this.#owner, end));
  }

  async #travel(claim: LaneClaim, untilMs: number): Promise<LaneEnd> {
    const { endpointId, failures } = claim;
    const lane = new Lane(this.#laneParts, claim, untilMs);
    if (this.#state !== 'running') lane.end();
    this.#awaited.delete(endpointId);
    this.#lanes.set(endpointId, lane);
    try {
      return await lane.run();
    } catch (error) {
      this.#reportAway(error);
      return { failures, restingUntilMs: this.#parts.clock() + AWAY_MS };
    } finally {
      this.#lanes.delete(endpointId);
    }
  }

  /** What fails here is done again with a later poll. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#reportAway(error);
    }
  }

  /** Once until a poll has succeeded again: they come every second. */
  #reportAway(error: unknown): void {
    if (!this.#isAway) this.#parts.observe.unavailable('webhooks', error);
    this.#isAway = true;
  }
}
