import { KeyringError } from '@custos/keyring';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { randomId, type WebhookEndpointId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { createGate } from './gate.ts';
import { Lane, type LaneClaim, type LaneEnd, type LaneParts, TROUBLED_AT } from './lane.ts';
import { createRecorder, type DeliveryObserver, type Recorder } from './recorder.ts';
import type { WebhookSender } from './sender.ts';
import { WebhookReader } from './store/webhook-reader.ts';
import { WebhookStore } from './store/webhooks.ts';

const POLL_EVERY_MS = 1000;
/** How long a lane is claimed, and how often the claim is made longer: who is killed is followed after the first. */
const CLAIM_MS = 10_000;
const RENEW_EVERY_MS = 3000;
/** How many endpoints are served at once; of those in trouble fewer, so that they cannot take all places. */
const PLACES = { all: 1024, troubled: 256 };
/** How many of them may have an event in memory that is larger than a usual batch. */
const LARGE_BATCHES_MAX = 16;
/** How many can wait for a place; a poll finds those beyond. */
const WOKEN_MAX = 4096;
/** Until a lane is tried again whose database or keyring was away. */
const AWAY_MS = 5000;
const STOP_MS_MAX = 6000;

export interface DispatcherParts {
  readonly storage: Storage;
  /** One that jumps ahead would give up deliveries and take endpoints from others. */
  readonly clock: Clock;
  readonly elapsed: Clock;
  readonly send: WebhookSender;
  readonly observe: DeliveryObserver;
  /** Breaks off what is being sent. */
  readonly breakOff: () => Promise<void>;
  /** Deletes what is kept no longer; called with every poll. */
  readonly sweep: () => Promise<void>;
  readonly places?: { readonly all: number; readonly troubled: number };
}

/**
 * Sends what transactions have stored, with any number of processes at it. Each endpoint has a lane that one process
 * holds at a time, so that its deliveries keep their order and a slow one delays nobody else. A delivery stays stored
 * until its receiver has answered: it is never lost, and repeated with the same event id by whoever dies in between.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #laneParts: LaneParts;
  readonly #places: { readonly all: number; readonly troubled: number };
  readonly #owner: string = randomId();
  readonly #lanes = new Map<WebhookEndpointId, Lane>();
  readonly #running = new Map<WebhookEndpointId, Promise<void>>();
  /** Who waits for a place, the longest first, and whether in trouble as far as that is known. */
  readonly #woken = new Map<WebhookEndpointId, boolean>();
  /** Who had trouble when it got its place. */
  readonly #troubled = new Set<WebhookEndpointId>();
  /** Aborted when a stop has waited long enough. */
  readonly #end = new AbortController();
  #state: 'new' | 'running' | 'stopping' = 'new';
  #timer: NodeJS.Timeout | undefined;
  #polling = Promise.resolve();
  #renewTimer: NodeJS.Timeout | undefined;
  #renewing = Promise.resolve();
  #lookAfter: WebhookEndpointId | '' = '';
  #isAway = false;
  #stopped: Promise<void> | undefined;

  constructor(parts: DispatcherParts) {
    const { storage, clock, elapsed, send, observe } = parts;
    const recorder: Recorder = createRecorder(storage, clock, observe, this.#end.signal);
    this.#parts = parts;
    this.#places = parts.places ?? PLACES;
    this.#laneParts = { storage, clock, elapsed, send, recorder, large: createGate(LARGE_BATCHES_MAX) };
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#polling = this.#releaseAbandoned().then(() => this.#poll());
    this.#renewLater();
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
      else if (this.#woken.size < WOKEN_MAX) this.#await(endpointId);
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
    clearTimeout(this.#renewTimer);
    for (const lane of this.#lanes.values()) lane.end();
    const breakOff = setTimeout(() => {
      this.#end.abort();
      void this.#parts.breakOff();
    }, STOP_MS_MAX);
    await Promise.all([this.#polling, this.#renewing]);
    await Promise.all(this.#running.values());
    clearTimeout(breakOff);
    if (wasRunning)
      await this.#guard(() => this.#parts.storage.write((store) => store(WebhookStore).releaseOwner(this.#owner)));
    await this.#parts.breakOff();
  }

  /** The embedded database has one process: who else holds a lane was killed. */
  async #releaseAbandoned(): Promise<void> {
    const { storage } = this.#parts;
    if (storage.kind === 'sqlite')
      await this.#guard(() => storage.write((store) => store(WebhookStore).releaseAllLanes()));
  }

  async #poll(): Promise<void> {
    if (this.#state !== 'running') return;
    await this.#guard(async () => {
      await this.#look();
      await this.#parts.sweep();
      this.#isAway = false;
    });
    if (this.#state !== 'running') return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll();
    }, POLL_EVERY_MS).unref();
  }

  /** By a timer of its own: claims must not wait for whatever else takes long. */
  #renewLater(): void {
    if (this.#state !== 'running') return;
    this.#renewTimer = setTimeout(() => {
      this.#renewing = this.#guard(() => this.#renew()).finally(() => this.#renewLater());
    }, RENEW_EVERY_MS).unref();
  }

  async #renew(): Promise<void> {
    const { storage, clock, elapsed } = this.#parts;
    if (this.#lanes.size === 0) return;
    const nowMs = clock();
    const untilMs = nowMs + CLAIM_MS;
    const keptUntilMs = elapsed() + CLAIM_MS;
    const before = new Map(this.#lanes);
    const held = new Set(await storage.write((store) => store(WebhookStore).renewLanes(this.#owner, nowMs, untilMs)));
    for (const [endpointId, lane] of before) {
      if (held.has(endpointId)) lane.keep(keptUntilMs);
      else lane.end();
    }
    // One that is held and has nobody at it could not be given back when its work was done.
    for (const endpointId of held) if (!this.#running.has(endpointId)) this.#await(endpointId);
  }

  async #look(): Promise<void> {
    const { storage, clock } = this.#parts;
    const due = await storage.read(WebhookReader).dueLanes(clock(), this.#places.all, this.#lookAfter);
    // Where there are more, the next look goes on behind them: those in front may find no place for long.
    this.#lookAfter = due.length < this.#places.all ? '' : (due.at(-1)?.endpointId ?? '');
    for (const { endpointId, failures } of due) this.#await(endpointId, failures >= TROUBLED_AT);
    this.#claimWoken();
  }

  #await(endpointId: WebhookEndpointId, isTroubled = this.#woken.get(endpointId) ?? false): void {
    this.#woken.set(endpointId, isTroubled);
  }

  /** Gives out the places; where there are too few, those go on that have had theirs for longest. */
  #claimWoken(): void {
    if (this.#state !== 'running') return;
    let troubledCount = this.#troubledCount();
    let left = 0;
    for (const [endpointId, isTroubled] of this.#woken) {
      if (this.#running.has(endpointId)) continue;
      if (isTroubled && troubledCount >= this.#places.troubled) continue;
      if (this.#running.size >= this.#places.all) {
        left += 1;
        continue;
      }
      this.#woken.delete(endpointId);
      if (isTroubled) {
        this.#troubled.add(endpointId);
        troubledCount += 1;
      }
      const done = this.#guard(() => this.#serve(endpointId)).finally(() => {
        this.#running.delete(endpointId);
        this.#troubled.delete(endpointId);
        // Others wait, and it may have been woken itself while it was being left.
        this.#claimWoken();
      });
      this.#running.set(endpointId, done);
    }
    for (const lane of this.#lanes.values()) {
      if (left === 0) return;
      lane.leave();
      left -= 1;
    }
  }

  /** One that answers again is in trouble no more. */
  #troubledCount(): number {
    return [...this.#troubled].filter((endpointId) => this.#lanes.get(endpointId)?.isTroubled ?? true).length;
  }

  async #serve(endpointId: WebhookEndpointId): Promise<void> {
    const { storage, clock, elapsed } = this.#parts;
    const nowMs = clock();
    const untilMs = nowMs + CLAIM_MS;
    const keptUntilMs = elapsed() + CLAIM_MS;
    const claim = await storage.write((store) =>
      store(WebhookStore).claimLane(endpointId, this.#owner, nowMs, untilMs),
    );
    if (claim === undefined) return;
    const end = this.#hasPlace(endpointId, claim.failures)
      ? await this.#travel({ endpointId, ...claim }, keptUntilMs)
      : { failures: claim.failures, restingUntilMs: 0 };
    await storage.write((store) => store(WebhookStore).releaseLane(endpointId, this.#owner, end));
  }

  /** Of one that was woken by a new event it is known only now whether it is in trouble. */
  #hasPlace(endpointId: WebhookEndpointId, failures: number): boolean {
    if (failures < TROUBLED_AT || this.#troubled.has(endpointId)) return true;
    if (this.#troubledCount() < this.#places.troubled) {
      this.#troubled.add(endpointId);
      return true;
    }
    this.#await(endpointId, true);
    return false;
  }

  async #travel(claim: LaneClaim, untilMs: number): Promise<LaneEnd> {
    const { endpointId, failures } = claim;
    const lane = new Lane(this.#laneParts, claim, untilMs);
    if (this.#state !== 'running') lane.end();
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
    const { observe } = this.#parts;
    if (!(error instanceof ApiError || error instanceof KeyringError)) {
      observe.internalError(randomId(), 'webhooks', error);
      return;
    }
    if (!this.#isAway) observe.unavailable('webhooks', error);
    this.#isAway = true;
  }
}
