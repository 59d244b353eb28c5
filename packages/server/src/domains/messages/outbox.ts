import { setTimeout as sleep } from 'node:timers/promises';
import { type Keyring, KeyringError } from '@custos/keyring';
import { SealedReader } from '../../core/store/sealed.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import type { NewId } from '../../lib/ids.ts';
import { type OneAtATime, oneAtATime } from '../../lib/one-at-a-time.ts';
import type { Storage } from '../../storage/storage.ts';
import { type Content, openContent } from './message.ts';
import { type MessageReport, type Outcome, record } from './record.ts';
import { type Senders, sendersFor } from './senders/choose.ts';
import { CHANNELS, type Channel, type ClaimedMessage, MessageReader, MessageStore } from './store.ts';
import type { MessageSettings } from './ways.ts';

const POLL_EVERY_MS = 1000;
/** What a hand-over may take; well below the time of a claim, so that nobody else begins it meanwhile. */
const HAND_OVER_MS_MAX = 60_000;
const CLAIM_MS = 90_000;
/** A stop as a whole has ten seconds. */
const STOP_MS_MAX = 6000;
/** Until a message is tried again that could not be opened because the keyring or the database was away. */
const AWAY_DELAY_MS = 5000;
const RECORD_AGAIN_MS = 250;
const RECORD_AGAIN_MS_MAX = 5000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
const EVENT_AGE_MS_MAX = 90 * 24 * 60 * 60 * 1000;
const EVENTS_PER_DELETE = 1000;

export interface OutboxObserver {
  message(report: MessageReport): void;
  unavailable(operation: string, cause: unknown): void;
}

export interface OutboxParts {
  readonly config: MessageSettings;
  readonly storage: Storage;
  readonly keyring: Keyring;
  /** One that jumps ahead would give up messages and take those that others are at. */
  readonly clock: Clock;
  readonly elapsed: Clock;
  readonly newId: NewId;
  readonly observe: OutboxObserver;
}

export function createOutbox(parts: OutboxParts): Outbox {
  return new Outbox(parts, sendersFor(parts.config, parts.storage, parts.keyring));
}

interface Work {
  /** Replaced when this process claims the message again while it is still at it. */
  claim: ClaimedMessage;
  /** Set when what happened is written down: a claim after that is a new beginning. */
  isRecorded: boolean;
  readonly abort: AbortController;
  done: Promise<void>;
}

/**
 * Hands over what transactions have stored, with any number of processes at it. A message is deleted together with the
 * record of what became of it, after the other side has accepted it: it is never lost, and repeated only by whoever
 * dies between the two (protocol/messages 2.1).
 */
export class Outbox implements AsyncDisposable {
  readonly #parts: OutboxParts;
  readonly #senders: Senders;
  readonly #work = new Map<string, Work>();
  readonly #looks: ReadonlyMap<Channel, OneAtATime>;
  #timer: NodeJS.Timeout | undefined;
  #polling = Promise.resolve();
  #state: 'new' | 'running' | 'stopping' = 'new';
  #stopped: Promise<void> | undefined;
  /** Aborted when a stop has waited long enough. */
  readonly #end = new AbortController();
  #sweepAtMs = 0;
  #isAway = false;

  constructor(parts: OutboxParts, senders: Senders) {
    this.#parts = parts;
    this.#senders = senders;
    const lookOf = (channel: Channel): OneAtATime =>
      oneAtATime(
        () => this.#guard(() => this.#claim(channel)),
        () => this.#state === 'running',
      );
    this.#looks = new Map(CHANNELS.map((channel) => [channel, lookOf(channel)]));
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'running';
    this.#polling = this.#releaseAbandoned().then(() => this.#poll());
  }

  /** To be called after a commit with a message in it; without it the message waits for the next poll. */
  wake(): void {
    for (const channel of CHANNELS) this.#look(channel);
  }

  /** Takes nothing new, finishes what is being handed over, and breaks it off when that takes too long. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    this.#state = 'stopping';
    clearTimeout(this.#timer);
    const breakOff = setTimeout(() => {
      this.#end.abort();
      for (const { abort } of this.#work.values()) abort.abort();
    }, STOP_MS_MAX);
    await this.#polling;
    // In this order: what a look has claimed is work.
    await Promise.all([...this.#looks.values()].map((look) => look.done()));
    await Promise.all([...this.#work.values()].map(({ done }) => done));
    clearTimeout(breakOff);
    for (const channel of CHANNELS) this.#senders[channel].close();
  }

  /** The embedded database has one process: who else has claimed something was killed. */
  async #releaseAbandoned(): Promise<void> {
    const { storage } = this.#parts;
    if (storage.kind === 'sqlite') await this.#guard(() => storage.write((store) => store(MessageStore).releaseAll()));
  }

  async #poll(): Promise<void> {
    if (this.#state !== 'running') return;
    const { storage, clock } = this.#parts;
    await this.#guard(async () => {
      for (const channel of CHANNELS) {
        if (await storage.read(MessageReader).isDue(channel, clock())) this.#look(channel);
      }
      await this.#sweep();
      this.#isAway = false;
    });
    if (this.#state !== 'running') return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll();
    }, POLL_EVERY_MS).unref();
  }

  /** Forgets old events, some at a time. */
  async #sweep(): Promise<void> {
    const { storage, clock, elapsed } = this.#parts;
    const nowMs = clock();
    if (elapsed() < this.#sweepAtMs) return;
    let deleted: number;
    do {
      deleted = await storage.write((store) =>
        store(MessageStore).deleteEmailEvents(nowMs - EVENT_AGE_MS_MAX, EVENTS_PER_DELETE),
      );
    } while (deleted === EVENTS_PER_DELETE && this.#state === 'running');
    this.#sweepAtMs = elapsed() + SWEEP_EVERY_MS;
  }

  #look(channel: Channel): void {
    this.#looks.get(channel)?.call();
  }

  /** Claims as much as can be handed over now. */
  async #claim(channel: Channel): Promise<void> {
    const { storage, clock } = this.#parts;
    const busy = [...this.#work.values()].filter(({ claim }) => claim.channel === channel).length;
    const free = this.#senders[channel].slots - busy;
    if (free <= 0) return;
    const nowMs = clock();
    const claims = await storage.write((store) => store(MessageStore).claim(channel, free, nowMs, nowMs + CLAIM_MS));
    for (const claim of claims) this.#begin(claim);
  }

  #begin(claim: ClaimedMessage): void {
    const key = `${claim.organizationId} ${claim.id}`;
    const current = this.#work.get(key);
    if (current?.isRecorded === false) {
      current.claim = claim;
      return;
    }
    const work: Work = { claim, isRecorded: false, abort: new AbortController(), done: Promise.resolve() };
    this.#work.set(key, work);
    const deadline = setTimeout(() => work.abort.abort(), HAND_OVER_MS_MAX).unref();
    work.done = this.#guard(() => this.#run(work)).finally(() => {
      clearTimeout(deadline);
      if (this.#work.get(key) === work) this.#work.delete(key);
      this.#look(claim.channel);
    });
  }

  async #run(work: Work): Promise<void> {
    const { storage, clock, observe } = this.#parts;
    let content: Content | undefined;
    let result: Outcome['result'];
    try {
      content = await this.#open(work.claim);
      result = await this.#handOver(work, content);
    } catch (error) {
      if (content === undefined && isAway(error)) {
        this.#reportAway(error);
        const { attempts } = work.claim;
        await storage.write((store) => store(MessageStore).defer(work.claim, attempts, clock() + AWAY_DELAY_MS));
        return;
      }
      observe.unavailable('outbox', error);
      result = { kind: 'deferred', diagnostic: content === undefined ? 'NOT_OPENED' : 'UNKNOWN' };
    }
    await this.#record(work, { content, result, atMs: clock() });
  }

  async #open(claim: ClaimedMessage): Promise<Content> {
    const { keyring, storage } = this.#parts;
    const wrappedKey = await storage.read(SealedReader).organizationKey(claim.organizationId);
    if (wrappedKey === undefined) throw new Error('the organization of a message is not there');
    return await openContent(keyring, wrappedKey, claim, 'outbox-message', claim.sealed);
  }

  async #handOver({ claim, abort }: Work, content: Content): Promise<Outcome['result']> {
    const { organizationId, id, createdAtMs, channel, notAfterMs } = claim;
    if (notAfterMs !== undefined && notAfterMs <= this.#parts.clock()) {
      return { kind: 'expired', diagnostic: 'TOO_LATE' };
    }
    return await this.#senders[channel].send({ organizationId, id, content, createdAtMs }, abort.signal);
  }

  /**
   * Writes down what happened. What was accepted must not be sent again because the database is away for a moment, so
   * this does not give up while the process lives.
   */
  async #record(work: Work, outcome: Omit<Outcome, 'claim'>): Promise<void> {
    const { storage, newId, observe } = this.#parts;
    for (let delayMs = RECORD_AGAIN_MS; ; delayMs = Math.min(2 * delayMs, RECORD_AGAIN_MS_MAX)) {
      try {
        const report = await storage.write((store) => record(store, { ...outcome, claim: work.claim }, newId()));
        work.isRecorded = true;
        if (report !== undefined) observe.message(report);
        return;
      } catch (error) {
        if (this.#end.signal.aborted) throw error;
        this.#reportAway(error);
        await sleep(delayMs, undefined, { signal: this.#end.signal }).catch(() => {});
      }
    }
  }

  /** What fails here is done again with a later look. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#reportAway(error);
    }
  }

  /** Once until a poll has succeeded again: they come every second. */
  #reportAway(error: unknown): void {
    if (!this.#isAway) this.#parts.observe.unavailable('outbox', error);
    this.#isAway = true;
  }
}

/** Whether the database or the keyring is away, so that the message itself is not to blame. */
const isAway = (error: unknown): boolean =>
  error instanceof ApiError || (error instanceof KeyringError && error.code !== 'NOT_OPENED');
