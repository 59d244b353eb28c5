import type { Clock } from '../lib/clock.ts';
import { oneAtATime } from '../lib/one-at-a-time.ts';
import { Alarm } from './alarm.ts';
import { backOffMs } from './back-off.ts';
import type { Claim, Topic } from './claim.ts';
import type { Hold } from './hold.ts';
import { Lease } from './lease.ts';
import { pause } from './pause.ts';
import { Places } from './places.ts';
import type { Strategy, Unserved, WorkerObserver } from './strategy.ts';
import { Tasks } from './tasks.ts';
import { Waiting } from './waiting.ts';

/** While the database is away, polls come less and less often. */
const AWAY_POLL_MS_MAX = 4000;
const RELEASE_AGAIN = { firstMs: 250, mostMs: 5000 };
/** What a stop has broken off may take so long to end. */
const BROKEN_OFF_MS = 2000;

export interface WorkerParts {
  /** The time of leases. One that jumps ahead would take claims from others. */
  readonly clock: Clock;
  readonly elapsed: Clock;
  /** For whom nothing is done at present. */
  readonly hold: Hold;
  readonly observe: WorkerObserver;
}

interface Job<T, C extends Claim> {
  readonly topic: T;
  readonly lease: Lease<C>;
}

/**
 * Works on what the database has, with any number of processes at it. A `Strategy` says what that is; this is the one
 * mechanism of claims, leases, wakes, polls and stops:
 *
 * - While a lease holds, nobody else works on its claim, and this process does not do so twice.
 * - A lease that is lost, or could not be renewed in time, ends the work: `lease.isOver`, `lease.signal`.
 * - A wake is never lost, whatever is being done meanwhile. Without any, a poll finds what is due.
 * - Never more than the limits at once. Who waits for a place gets one in turn, as the longest running are asked to leave.
 * - Every claim is given back, and giving back is repeated until it succeeds.
 * - A stop claims nothing more, waits for what runs, and breaks it off after its time.
 * - Nothing is done for organizations that are held: nothing is claimed, and what was claimed is given back untouched.
 */
export class LeasedWorker<T extends Topic, C extends Claim, E> {
  readonly #strategy: Strategy<T, C, E>;
  readonly #parts: WorkerParts;
  readonly #places: Places;
  readonly #alarm = new Alarm();
  readonly #waiting = new Waiting<T>();
  /** What rings when a topic has work again. */
  readonly #due = new Map<string, () => void>();
  readonly #claiming = new Set<string>();
  /** By the keys of their claims, the longest running first. */
  readonly #jobs = new Map<string, Job<T, C>>();
  readonly #tasks = new Tasks();
  /** Aborted when a stop has waited long enough. */
  readonly #end = new AbortController();
  readonly #look = oneAtATime(
    () => this.#find(),
    () => this.#state === 'running',
  );
  readonly #poll = (): void => this.#tasks.add(this.#pollOnce());
  readonly #renew = (): void => this.#tasks.add(this.#renewAll());
  #state: 'new' | 'starting' | 'running' | 'stopping' = 'new';
  #failures = 0;
  #stopped: Promise<void> | undefined;

  constructor(strategy: Strategy<T, C, E>, parts: WorkerParts) {
    this.#strategy = strategy;
    this.#parts = parts;
    this.#places = new Places(strategy.limits);
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'starting';
    this.#tasks.add(this.#begin());
  }

  /** To be called after a commit with work in it, with its topics; without any it looks for all that are due. */
  wake(topics?: readonly T[]): void {
    if (this.#state !== 'running' && this.#state !== 'starting') return;
    if (topics === undefined) {
      for (const { lease } of this.#jobs.values()) lease.wake();
      this.#look.call();
      return;
    }
    for (const topic of topics) {
      const job = this.#jobs.get(topic.key);
      if (job !== undefined) job.lease.wake();
      else this.#waiting.addWoken(topic);
    }
    this.#fill();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #begin(): Promise<void> {
    await this.#guard(async () => await this.#strategy.recover?.());
    if (this.#state !== 'starting') return;
    this.#state = 'running';
    this.#fill();
    this.#renewLater();
    this.#poll();
  }

  async #stop(): Promise<void> {
    const wasRunning = this.#state === 'running';
    this.#state = 'stopping';
    this.#alarm.clear();
    for (const { lease } of this.#jobs.values()) lease.end();
    const breakOff = (): void => {
      this.#end.abort();
      for (const { lease } of this.#jobs.values()) lease.abort();
      this.#strategy.breakOff?.();
    };
    await this.#tasks.done(this.#strategy.stopMs, breakOff, BROKEN_OFF_MS);
    if (wasRunning) await this.#guard(async () => await this.#strategy.releaseAll?.());
  }

  /** Whether none of the work is done: all organizations are held, or it is not known whose it is. */
  get #isHeld(): boolean {
    const { hold } = this.#parts;
    return hold.isWhole || (hold.isUp && this.#strategy.whose === undefined);
  }

  async #pollOnce(): Promise<void> {
    if (this.#isHeld) for (const { lease } of this.#jobs.values()) lease.end();
    this.#look.call();
    await this.#look.done();
    await this.#guard(async () => {
      if (this.#failures > 0) return;
      if (!this.#parts.hold.isUp || this.#strategy.tidiesMeanwhile !== undefined) await this.#strategy.tidy?.();
      this.#parts.observe.recovered();
    });
    if (this.#state !== 'running') return;
    const { pollEveryMs: firstMs } = this.#strategy;
    const awayMs = backOffMs({ firstMs, mostMs: AWAY_POLL_MS_MAX }, this.#failures);
    this.#alarm.set(this.#poll, this.#failures === 0 ? firstMs : awayMs);
  }

  async #find(): Promise<void> {
    try {
      const due = this.#isHeld ? [] : await this.#strategy.due(this.#parts.clock());
      this.#failures = 0;
      this.#waiting.takeBack();
      for (const topic of due) this.#waiting.add(topic);
      this.#fill();
    } catch (error) {
      this.#failures += 1;
      this.#parts.observe.failed(error);
    }
  }

  #isTaken({ key }: Topic): boolean {
    return this.#claiming.has(key) || this.#jobs.has(key);
  }

  /** Gives out the places. Where there are too few, those that have had theirs for longest are asked to leave. */
  #fill(): void {
    if (this.#state !== 'running' || this.#isHeld) return;
    let left = 0;
    for (const topic of this.#waiting) {
      if (this.#isTaken(topic)) continue;
      const most = Math.min(
        this.#places.freeOf(topic.group),
        this.#strategy.topics === 'claim' ? 1 : this.#places.free,
      );
      if (most <= 0) continue;
      if (this.#places.free > 0) this.#tasks.add(this.#claim(topic, most));
      else left += 1;
    }
    for (const { lease } of this.#jobs.values()) {
      if (left === 0) return;
      lease.want();
      left -= 1;
    }
  }

  async #claim(topic: T, room: number): Promise<void> {
    const { clock, elapsed } = this.#parts;
    const { lease, topics } = this.#strategy;
    this.#waiting.remove(topic);
    this.#claiming.add(topic.key);
    this.#places.take(topic.group, room);
    let claims: readonly C[] = [];
    // Before the claim, so that the lease is not thought to hold for longer than it does.
    const nowMs = clock();
    const heldUntilMs = lease.isFenced ? Number.POSITIVE_INFINITY : elapsed() + lease.ms;
    try {
      claims = await this.#strategy.claim(topic, room, nowMs, nowMs + lease.ms);
      if (topics === 'queue' && claims.length === room) this.#waiting.add(topic);
    } catch (error) {
      this.#parts.observe.failed(error);
      this.#waiting.setAside(topic);
    }
    this.#claiming.delete(topic.key);
    this.#places.give(topic.group, room);
    for (const claim of claims) this.#take(topic, claim, heldUntilMs);
    this.#fill();
  }

  #take(topic: T, claim: C, heldUntilMs: number): void {
    const current = this.#jobs.get(claim.key);
    if (current !== undefined) {
      // The lease had run out while this process was still at it: it goes on, under the new one.
      current.lease.keep(heldUntilMs, claim);
      return;
    }
    // The work that begins now will find what a wake meanwhile was about.
    if (this.#strategy.topics === 'claim') this.#waiting.remove(topic);
    const mayBegin = this.#state === 'running' && this.#places.freeOf(claim.group) > 0;
    const lease = new Lease(claim, heldUntilMs, this.#parts.elapsed, (group) => {
      this.#places.give(group, 1);
      this.#places.take(undefined, 1);
      this.#fill();
    });
    this.#jobs.set(claim.key, { topic, lease });
    this.#places.take(claim.group, 1);
    this.#tasks.add(this.#work(topic, lease, mayBegin));
  }

  async #work(topic: T, lease: Lease<C>, mayBegin: boolean): Promise<void> {
    const isHeld = await this.#holds(lease.claim);
    const end = mayBegin && !isHeld ? await this.#serve(lease) : 'untouched';
    const againInMs = await this.#release(lease, end);
    this.#jobs.delete(lease.claim.key);
    this.#places.give(lease.group, 1);
    // Until then a poll finds it.
    if (isHeld) return this.#fill();
    // Only now it is known that the group is full: it waits for its turn there.
    if (!mayBegin) this.#waiting.add({ ...topic, group: lease.claim.group });
    else if (lease.isWoken || againInMs === 0) this.#waiting.add(topic);
    else if (againInMs !== undefined) this.#later(topic, againInMs);
    this.#fill();
  }

  /** What cannot be told is held. */
  async #holds(claim: C): Promise<boolean> {
    const { hold, observe } = this.#parts;
    if (!hold.isUp) return false;
    const organizationId = this.#strategy.whose?.(claim);
    if (organizationId === undefined) return this.#isHeld;
    try {
      return await hold.holds(organizationId);
    } catch (error) {
      observe.failed(error);
      return true;
    }
  }

  async #serve(lease: Lease<C>): Promise<E | Unserved> {
    const { workMs } = this.#strategy.lease;
    const expire = (): void => lease.abort();
    if (workMs !== undefined) this.#alarm.set(expire, workMs);
    try {
      return await this.#strategy.serve(lease);
    } catch (error) {
      this.#parts.observe.failed(error);
      return 'failed';
    } finally {
      this.#alarm.unset(expire);
    }
  }

  /** What was done must not be done again because the database is away for a moment. */
  async #release(lease: Lease<C>, end: E | Unserved): Promise<number | undefined> {
    for (let failures = 1; ; failures += 1) {
      const { claim } = lease;
      try {
        const againInMs = await this.#strategy.release(claim, end);
        // Unless it was claimed once more meanwhile: the earlier claim then gave nothing back.
        if (lease.claim === claim) return againInMs;
      } catch (error) {
        this.#parts.observe.failed(error);
        if (this.#end.signal.aborted) return undefined;
        await pause(backOffMs(RELEASE_AGAIN, failures), this.#end.signal);
      }
    }
  }

  #later(topic: T, inMs: number): void {
    const ring =
      this.#due.get(topic.key) ??
      (() => {
        this.#due.delete(topic.key);
        this.wake([topic]);
      });
    this.#due.set(topic.key, ring);
    if (this.#state === 'running') this.#alarm.set(ring, inMs);
  }

  #renewLater(): void {
    const { renewEveryMs } = this.#strategy.lease;
    if (renewEveryMs !== undefined && this.#state === 'running') this.#alarm.set(this.#renew, renewEveryMs);
  }

  async #renewAll(): Promise<void> {
    const { lease: terms } = this.#strategy;
    const { clock, elapsed } = this.#parts;
    const jobs = [...this.#jobs.values()];
    const nowMs = clock();
    const heldUntilMs = terms.isFenced ? Number.POSITIVE_INFINITY : elapsed() + terms.ms;
    await this.#guard(async () => {
      if (jobs.length === 0) return;
      const claims = jobs.map(({ lease }) => lease.claim);
      const held = await this.#strategy.renew?.(claims, nowMs, nowMs + terms.ms);
      if (held === undefined) return;
      const unknown = new Map(held.map((topic) => [topic.key, topic]));
      for (const { lease } of jobs) {
        if (unknown.delete(lease.claim.key)) lease.keep(heldUntilMs);
        else lease.abort();
      }
      // The answer to a claim may have been lost: the database has it as ours, and nobody is at it.
      for (const topic of unknown.values()) if (!this.#isTaken(topic)) this.#waiting.add(topic);
      this.#fill();
    });
    for (const { lease } of jobs) if (lease.hasRunOut) lease.abort();
    this.#renewLater();
  }

  /** What fails here is done again with a later poll. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.observe.failed(error);
    }
  }
}
