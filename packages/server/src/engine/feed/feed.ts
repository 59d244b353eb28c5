import { type Actor, credentialIdOf } from '../../core/actor.ts';
import { Credentials } from '../../core/directory.ts';
import { type Change, ChangeReader, ChangeStore, type Era, type Mark, type Now } from '../../core/store/changes.ts';
import { InstallationReader } from '../../core/store/installation.ts';
import { type Clock, toRfc3339 } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { type OrganizationId, randomId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AccessRulesCache } from '../access-rules.ts';
import { type FeedCursor, isUsable, type PresentedCursor, printCursor } from './cursor.ts';
import { apiKeysOf, type FeedEnd, type Follower, Judge, organizationIdsOf } from './standing.ts';
import { Stream } from './stream.ts';

export interface FeedParts {
  readonly storage: Storage;
  readonly accessRules: AccessRulesCache;
  readonly clock: Clock;
  /** Goes on when the clock is set. */
  readonly elapsed: Clock;
  /** How many streams this process has at most. */
  readonly streamsMax: number;
  /** A client that takes nothing for so long is cut; 15 seconds unless told. */
  readonly stuckMs?: number;
}

/** How often streams look for what other processes and workers did, and whether they may go on. */
const TICK_MS = 400;
/** A stream that stands no further back is moved on without reading. */
const LOOKS_KEPT = 50;
const HEARTBEAT_MS = 5000;
/** Without the database nobody knows whether a stream may go on. */
const BLIND_MS = 5000;
const STUCK_MS = 15_000;
/** What a client that reads slowly may keep in memory. */
const BATCH = 100;
/** Commits that follow each other so closely are told together. */
const GATHER_MS = 20;

export const STREAMS_PER_CREDENTIAL = 20;
export const STREAMS_PER_ORGANIZATION = 200;
const RETRY_SECONDS = 5;

/** One line of the feed. */
export type FeedLine =
  | { readonly cursor: string; readonly event: Readonly<Record<string, string>> }
  | { readonly cursor: string; readonly now: string }
  | { readonly end: FeedEnd };

/** What one client follows. */
export interface FeedStream {
  readonly lines: AsyncGenerator<FeedLine, void, undefined>;
  /** The client is gone. */
  close(): void;
  /** Says how to part from a client that takes nothing. */
  onStuck(cut: () => void): void;
}

/** Changes of one organization that some streams are to be told of, from where they stand. */
interface Batch {
  readonly start: FeedCursor;
  readonly to: Mark;
  readonly changes: readonly Change[];
  /** Whether nothing follows up to `to`. */
  readonly isLast: boolean;
  readonly atMs: number;
}

/** What cursors are made of and known by. */
interface Identity {
  readonly key: Buffer;
  readonly eras: readonly Era[];
  /** The present era. */
  readonly origin: string;
}

/**
 * The open streams of this process (docs/decisions/0045). A stream is a cursor and a client: it holds no connection to the
 * database and at most one batch of events, which it shares with those who stand where it stands.
 */
export class Feed {
  readonly #parts: FeedParts;
  readonly #streams = new Set<Stream>();
  readonly #byOrganization = new Map<OrganizationId, Set<Stream>>();
  readonly #batches = new Map<OrganizationId, { readonly key: string; readonly batch: Promise<Batch>; tick: number }>();
  readonly #gathering = new Map<OrganizationId, NodeJS.Timeout>();
  #identity: Promise<Identity> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** As the last tick saw it. */
  #now: Now | undefined;
  /** What the last ticks saw, the latest last. */
  #marks: Mark[] = [];
  #asking: Promise<Now> | undefined;
  #ticks = 0;
  #seenAtMs = 0;
  #wasAway = false;
  #isTicking = false;
  #isStopped = false;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** How many batches are kept for others who stand at the same place. */
  get batches(): number {
    return this.#batches.size;
  }

  /** Before anything changes in the database. */
  async start(): Promise<void> {
    await this.#parts.storage.write((store) => store(ChangeStore).beginEra(randomId()));
  }

  /** Begins now without a cursor, and where the cursor stands otherwise. */
  async open(follower: Follower, presented: PresentedCursor | undefined): Promise<FeedStream> {
    if (this.#isStopped) throw new ApiError('UNAVAILABLE', 'the service is stopping', { retryAfterSeconds: 1 });
    this.#requireRoom(follower.actor);
    const { storage, clock } = this.#parts;
    const stream = new Stream(follower);
    // Before anything is waited for, so that many who come together are counted.
    this.#add(stream);
    try {
      const [identity, now] = await Promise.all([this.#identify(), storage.read(ChangeReader).now()]);
      const { key, eras, origin } = identity;
      const { organizationId } = follower.actor;
      const nowMs = clock();
      const cursor =
        presented?.isGenuine({ key, organizationId }) && isUsable(presented.cursor, eras, now, nowMs)
          ? presented.cursor
          : undefined;
      stream.cursor = cursor === undefined ? { origin, from: now.mark, atMs: nowMs } : { ...cursor, origin };
      stream.hasGap = presented !== undefined && cursor === undefined;
      if (this.#marks.length === 0) this.#marks.push(now.mark);
      this.#timer ??= setInterval(() => void this.#tick(), TICK_MS).unref();
      this.#seenAtMs ||= this.#parts.elapsed();
      return {
        lines: this.#lines(stream, identity),
        close: () => this.#close(stream),
        onStuck: (cut) => {
          stream.cut = cut;
        },
      };
    } catch (error) {
      this.#close(stream);
      throw error;
    }
  }

  /** After a commit of this process: streams of the organization are told at once. */
  changed(organizationId: OrganizationId): void {
    const streams = this.#byOrganization.get(organizationId);
    if (streams === undefined || this.#gathering.has(organizationId)) return;
    const wake = (): void => {
      this.#gathering.delete(organizationId);
      for (const stream of this.#byOrganization.get(organizationId) ?? []) stream.wake();
    };
    this.#gathering.set(organizationId, setTimeout(wake, GATHER_MS).unref());
  }

  /** Ends all streams; their clients come back elsewhere. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const stream of this.#streams) stream.end({ code: 'UNAVAILABLE', message: 'the service is stopping' });
  }

  #requireRoom(actor: Actor): void {
    const credentialId = credentialIdOf(actor) ?? `session of ${actor.userId}`;
    let ofCredential = 0;
    let ofOrganization = 0;
    for (const { follower } of this.#streams) {
      if (follower.actor.organizationId === actor.organizationId) ofOrganization += 1;
      const otherId = credentialIdOf(follower.actor) ?? `session of ${follower.actor.userId}`;
      if (otherId === credentialId) ofCredential += 1;
    }
    const refuse = (what: string): never => {
      throw new ApiError('RATE_LIMIT_EXCEEDED', `${what}; close some, or try again after Retry-After seconds`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    };
    if (ofCredential >= STREAMS_PER_CREDENTIAL) refuse(`this credential has ${ofCredential} feeds open`);
    if (ofOrganization >= STREAMS_PER_ORGANIZATION) refuse(`${ofOrganization} feeds of this organization are open`);
    if (this.#streams.size >= this.#parts.streamsMax) refuse('too many feeds are open');
  }

  #add(stream: Stream): void {
    this.#streams.add(stream);
    const { organizationId } = stream.follower.actor;
    const others = this.#byOrganization.get(organizationId);
    if (others === undefined) this.#byOrganization.set(organizationId, new Set([stream]));
    else others.add(stream);
  }

  #close(stream: Stream): void {
    stream.isClosed = true;
    stream.wake();
    this.#streams.delete(stream);
    const { organizationId } = stream.follower.actor;
    const others = this.#byOrganization.get(organizationId);
    others?.delete(stream);
    if (others?.size === 0) {
      this.#byOrganization.delete(organizationId);
      this.#batches.delete(organizationId);
    }
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#now = undefined;
    this.#marks = [];
    this.#seenAtMs = 0;
  }

  /** Kept once it is known; who asks after a failure asks again. */
  #identify(): Promise<Identity> {
    if (this.#identity !== undefined) return this.#identity;
    const { read } = this.#parts.storage;
    const identity = (async () => {
      const [key, eras] = await Promise.all([read(InstallationReader).get('feed_key'), read(ChangeReader).eras()]);
      if (key === undefined) throw new Error('the database has no key for cursors');
      return { key: Buffer.from(key, 'hex'), eras, origin: eras.at(-1)?.id ?? '' };
    })();
    this.#identity = identity;
    identity.catch(() => {
      if (this.#identity === identity) this.#identity = undefined;
    });
    return identity;
  }

  async *#lines(stream: Stream, { key }: Identity): AsyncGenerator<FeedLine, void, undefined> {
    const { clock, elapsed } = this.#parts;
    const { organizationId } = stream.follower.actor;
    const here = () => ({ cursor: printCursor(stream.cursor, { key, organizationId }) });
    const handOver = (line: FeedLine): FeedLine => {
      stream.handedAtMs = elapsed();
      return line;
    };
    const heartbeat = (): FeedLine => handOver({ ...here(), now: toRfc3339(clock()) });
    try {
      // At once, so that the client knows that it is heard, and where it stands.
      if (!stream.hasGap) yield heartbeat();
      for (let saidAtMs = elapsed(); !stream.isClosed; ) {
        stream.taken();
        if (stream.ending !== undefined) {
          yield handOver({ end: stream.ending });
          return;
        }
        if (stream.hasGap) {
          stream.hasGap = false;
          yield handOver({ ...here(), event: { kind: 'GAP' } });
          continue;
        }
        const woken = stream.woken();
        // Where the database could not be asked: the tick ends the streams if that lasts.
        const batch = await this.#read(stream).catch(() => undefined);
        if (batch !== undefined && this.#isHeardBy(stream)) {
          for (const change of batch.changes) {
            stream.cursor = { ...batch.start, to: batch.to, place: change.place };
            yield handOver({ ...here(), event: eventOf(change) });
            stream.taken();
            saidAtMs = elapsed();
            if (!this.#isHeardBy(stream)) break;
          }
          if (batch.isLast && this.#isHeardBy(stream)) {
            stream.cursor = { origin: batch.start.origin, from: batch.to, atMs: batch.atMs };
          }
          if (batch.changes.length > 0) continue;
        }
        const leftMs = HEARTBEAT_MS - (elapsed() - saidAtMs);
        if (leftMs > 0) {
          await Promise.race([woken, stream.after(leftMs)]);
          continue;
        }
        yield heartbeat();
        saidAtMs = elapsed();
      }
    } finally {
      this.#close(stream);
    }
  }

  #isHeardBy({ isClosed, ending, hasGap }: Stream): boolean {
    return !isClosed && ending === undefined && !hasGap;
  }

  /** What comes next; undefined where nothing has happened since. */
  async #read(stream: Stream): Promise<Batch | undefined> {
    const { cursor } = stream;
    const { organizationId } = stream.follower.actor;
    const to = cursor.to ?? (await this.#askNow()).mark;
    if (cursor.to === undefined && !isLater(to, cursor.from)) return undefined;
    if ((this.#byOrganization.get(organizationId)?.size ?? 0) < 2) return await this.#batch(organizationId, cursor, to);
    const key = JSON.stringify([cursor.from, to, cursor.place]);
    const known = this.#batches.get(organizationId);
    if (known?.key === key) return await known.batch;
    const batch = this.#batch(organizationId, cursor, to);
    // Those who follow the same organization stand at the same place mostly, and one reads for all.
    this.#batches.set(organizationId, { key, batch, tick: this.#ticks });
    try {
      return await batch;
    } catch (error) {
      this.#batches.delete(organizationId);
      throw error;
    }
  }

  /** Of those who look in the same moment, one asks for all. */
  #askNow(): Promise<Now> {
    if (this.#asking === undefined) {
      this.#asking = this.#parts.storage.read(ChangeReader).now();
      setImmediate(() => {
        this.#asking = undefined;
      });
    }
    return this.#asking;
  }

  async #batch(organizationId: OrganizationId, start: FeedCursor, to: Mark): Promise<Batch> {
    const { storage, clock } = this.#parts;
    const atMs = clock();
    const span = { from: start.from, to };
    const changes = await storage.read(ChangeReader).between(organizationId, span, start.place, BATCH);
    return { start, to, changes, isLast: changes.length < BATCH, atMs };
  }

  async #tick(): Promise<void> {
    if (this.#isTicking || this.#isStopped) return;
    this.#isTicking = true;
    this.#ticks += 1;
    const { storage, elapsed } = this.#parts;
    try {
      this.#cutStuck();
      this.#forgetBatches();
      const now = await storage.read(ChangeReader).now();
      await this.#tellGaps(now);
      await this.#look(now);
      this.#now = now;
      this.#marks = [...this.#marks, now.mark].slice(-LOOKS_KEPT);
      this.#seenAtMs = elapsed();
    } catch {
      this.#wasAway = true;
      if (elapsed() - this.#seenAtMs < BLIND_MS) return;
      for (const stream of this.#streams) {
        stream.end({ code: 'UNAVAILABLE', message: 'the database is not available' });
      }
    } finally {
      this.#isTicking = false;
    }
  }

  #cutStuck(): void {
    const { elapsed, stuckMs = STUCK_MS } = this.#parts;
    const nowMs = elapsed();
    for (const stream of this.#streams) {
      if (stream.handedAtMs !== undefined && nowMs - stream.handedAtMs > stuckMs) {
        this.#close(stream);
        stream.cut();
      }
    }
  }

  /** A batch is for those who come in the same moment. */
  #forgetBatches(): void {
    for (const [organizationId, { tick }] of this.#batches) {
      if (tick < this.#ticks - 1) this.#batches.delete(organizationId);
    }
  }

  /** A database that was away, or whose numbers fall, may come back as it was long before. */
  async #tellGaps(now: Now): Promise<void> {
    const hasFallen = this.#now !== undefined && now.next < this.#now.next;
    if (!this.#wasAway && !hasFallen) return;
    const before = await this.#identify();
    this.#identity = undefined;
    // What it was is kept until it is known what it is.
    const { origin } = await this.#identify().catch((error: unknown) => {
      this.#identity = Promise.resolve(before);
      throw error;
    });
    this.#wasAway = false;
    if (!hasFallen && origin === before.origin) return;
    this.#now = undefined;
    this.#marks = [];
    this.#batches.clear();
    const atMs = this.#parts.clock();
    for (const stream of this.#streams) stream.skipTo({ origin, from: now.mark, atMs });
  }

  /** For all streams together: who may go on, and where something changed. */
  async #look(now: Now): Promise<void> {
    const streams = [...this.#streams].filter(({ ending }) => ending === undefined);
    if (streams.length === 0) return;
    const { storage, accessRules, clock } = this.#parts;
    const before = this.#markBefore(streams, now.mark);
    const ids = organizationIdsOf(streams.map(({ follower }) => follower));
    const span = before === undefined ? undefined : { from: before, to: now.mark };
    const [standings, keyEnds] = await Promise.all([
      storage.read(ChangeReader).standings(ids, span),
      storage.read(Credentials).apiKeyEnds(apiKeysOf(streams.map(({ follower }) => follower))),
    ]);
    const judge = new Judge({ read: storage.read, accessRules, nowMs: clock() }, { standings, keyEnds });
    const changed = new Set(standings.flatMap(({ id, hasChanged }) => (hasChanged ? [id] : [])));
    for (const stream of streams) this.#advance(stream, before, now.mark, changed);
    await Promise.all(
      streams.map(async (stream) => {
        const found = await judge.judge(stream.follower, stream.seen);
        if ('code' in found) stream.end(found);
        else stream.seen = found;
      }),
    );
  }

  /**
   * The latest kept mark that all have seen who are not far behind. Not simply the last one: where reading takes longer than
   * a tick, streams would never catch up with it and each would read forever.
   */
  #markBefore(streams: readonly Stream[], now: Mark): Mark | undefined {
    let oldest = this.#marks.length;
    for (const { cursor } of streams) {
      if (cursor.to !== undefined || !isLater(now, cursor.from)) continue;
      const seen = this.#marks.findLastIndex((mark) => covers(cursor.from, mark));
      if (seen >= 0) oldest = Math.min(oldest, seen);
    }
    return this.#marks[oldest];
  }

  /** A stream in whose organization nothing changed stands at the new mark without reading. The others look for themselves. */
  #advance(stream: Stream, before: Mark | undefined, to: Mark, changed: ReadonlySet<OrganizationId>): void {
    const { cursor, follower } = stream;
    if (cursor.to === undefined && !isLater(to, cursor.from)) return;
    const hasSeenAllBefore = before !== undefined && cursor.to === undefined && covers(cursor.from, before);
    if (hasSeenAllBefore && !changed.has(follower.actor.organizationId)) {
      stream.cursor = { ...cursor, from: to, atMs: this.#parts.clock() };
    } else stream.wake();
  }
}

/** Whether a mark has seen all that the other has. */
const covers = (one: Mark, other: Mark): boolean =>
  one.below >= other.below && one.underWay.every((number) => number >= other.below || other.underWay.includes(number));

/** And more. Of two marks with very many transactions under way, neither need be later. */
const isLater = (one: Mark, other: Mark): boolean => covers(one, other) && !covers(other, one);

const eventOf = ({ kind, fields, updatedAtMs }: Change): Readonly<Record<string, string>> => ({
  kind,
  ...fields,
  updatedAt: toRfc3339(updatedAtMs),
});
