import { type Actor, credentialIdOf } from '../../core/actor.ts';
import { type Change, ChangeReader, type Mark } from '../../core/store/changes.ts';
import { type Clock, toRfc3339 } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AccessRulesCache } from '../access-rules.ts';
import { type FeedCursor, isUsable, printCursor } from './cursor.ts';
import { endOf, type FeedEnd, type Follower, organizationsOf } from './standing.ts';

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
const HEARTBEAT_MS = 5000;
/** Without the database nobody knows whether a stream may go on. */
const BLIND_MS = 5000;
const STUCK_MS = 15_000;
const BATCH = 200;

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

/**
 * The open streams of this process (docs/decisions/0045). A stream is a cursor and a client: it holds no connection to the
 * database and no events, so that one who reads slowly costs nothing but its own place.
 */
export class Feed {
  readonly #parts: FeedParts;
  readonly #streams = new Set<Stream>();
  readonly #batches = new Map<string, { readonly key: string; readonly batch: Promise<Batch> }>();
  #origin: Promise<string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #mark: Mark | undefined;
  #marking: Promise<Mark> | undefined;
  #seenAtMs = 0;
  #isTicking = false;
  #isStopped = false;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Begins now without a cursor, and where the cursor stands otherwise. */
  async open(follower: Follower, cursor: FeedCursor | undefined): Promise<FeedStream> {
    if (this.#isStopped) throw new ApiError('UNAVAILABLE', 'the service is stopping', { retryAfterSeconds: 1 });
    this.#requireRoom(follower.actor);
    const { storage, clock } = this.#parts;
    const stream = new Stream(follower);
    // Before anything is waited for, so that many who come together are counted.
    this.#streams.add(stream);
    try {
      const reader = storage.read(ChangeReader);
      this.#origin ??= reader.origin().catch(() => '');
      const [origin, now] = await Promise.all([this.#origin, reader.mark()]);
      const nowMs = clock();
      const isGap = cursor !== undefined && !isUsable(cursor, origin, now, nowMs);
      stream.cursor = cursor === undefined || isGap ? { origin, from: now, atMs: nowMs } : cursor;
      this.#timer ??= setInterval(() => void this.#tick(), TICK_MS).unref();
      this.#seenAtMs ||= this.#parts.elapsed();
      return {
        lines: this.#lines(stream, isGap),
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

  /** After a commit of this process: whoever follows the organization is told at once. */
  changed(organizationId: OrganizationId): void {
    for (const stream of this.#streams) {
      if (stream.follower.actor.organizationId === organizationId) stream.wake();
    }
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

  #close(stream: Stream): void {
    stream.isClosed = true;
    stream.wake();
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#seenAtMs = 0;
    this.#batches.clear();
  }

  async *#lines(stream: Stream, isGap: boolean): AsyncGenerator<FeedLine, void, undefined> {
    const { clock, elapsed } = this.#parts;
    try {
      // At once, so that the client knows that it is heard, and where it stands.
      yield this.#handOver(stream, isGap ? { ...at(stream), event: { kind: 'GAP' } } : heartbeat(stream, clock()));
      for (let saidAtMs = elapsed(); !stream.isClosed; ) {
        stream.taken();
        if (stream.ending !== undefined) {
          yield this.#handOver(stream, { end: stream.ending });
          return;
        }
        const woken = stream.woken();
        const batch = await this.#read(stream).catch(() => NOTHING);
        for (const { line, cursor } of batch) {
          if (stream.isClosed || stream.ending !== undefined) break;
          stream.cursor = cursor;
          if (line === undefined) continue;
          yield this.#handOver(stream, line);
          stream.taken();
          saidAtMs = elapsed();
        }
        if (batch.some(({ line }) => line !== undefined)) continue;
        const leftMs = HEARTBEAT_MS - (elapsed() - saidAtMs);
        if (leftMs > 0) {
          await Promise.race([woken, later(leftMs, stream)]);
          continue;
        }
        yield this.#handOver(stream, heartbeat(stream, clock()));
        saidAtMs = elapsed();
      }
    } finally {
      this.#close(stream);
    }
  }

  #handOver(stream: Stream, line: FeedLine): FeedLine {
    stream.handedAtMs = this.#parts.elapsed();
    return line;
  }

  /** What comes next, with the cursor after each line; the last entry may be a cursor alone. */
  async #read(stream: Stream): Promise<Batch> {
    const { cursor } = stream;
    const { organizationId } = stream.follower.actor;
    const to = cursor.to ?? (await this.#markNow());
    if (cursor.to === undefined && isSame(cursor.from, to)) return [];
    const key = JSON.stringify([cursor.from, to, cursor.place]);
    const known = this.#batches.get(organizationId);
    if (known?.key === key) return await known.batch;
    const batch = this.#batch(organizationId, cursor, to);
    // Those who follow the same organization stand at the same place mostly, and one reads for all.
    this.#batches.set(organizationId, { key, batch });
    try {
      return await batch;
    } catch (error) {
      this.#batches.delete(organizationId);
      throw error;
    }
  }

  /** Of those who look in the same moment, one asks for all. */
  #markNow(): Promise<Mark> {
    if (this.#marking === undefined) {
      this.#marking = this.#parts.storage.read(ChangeReader).mark();
      setImmediate(() => {
        this.#marking = undefined;
      });
    }
    return this.#marking;
  }

  async #batch(organizationId: OrganizationId, cursor: FeedCursor, to: Mark): Promise<Batch> {
    const { storage, clock } = this.#parts;
    const { from, origin, atMs } = cursor;
    const reader = storage.read(ChangeReader);
    const changes = await reader.between(organizationId, { from, to }, cursor.place, BATCH);
    if (changes.length === 0) return [{ line: undefined, cursor: { origin, from: to, atMs: clock() } }];
    return changes.map((change) => {
      const next = { origin, from, atMs, to, place: change.place };
      return { line: { cursor: printCursor(next), event: eventOf(change) }, cursor: next };
    });
  }

  async #tick(): Promise<void> {
    if (this.#isTicking || this.#isStopped) return;
    this.#isTicking = true;
    const { storage, elapsed } = this.#parts;
    try {
      this.#cutStuck();
      const [mark] = await Promise.all([storage.read(ChangeReader).mark(), this.#endThoseWhoMayNot()]);
      const isNew = this.#mark === undefined || !isSame(this.#mark, mark);
      this.#mark = mark;
      this.#seenAtMs = elapsed();
      if (isNew) for (const stream of this.#streams) stream.wake();
    } catch {
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

  async #endThoseWhoMayNot(): Promise<void> {
    const streams = [...this.#streams].filter(({ ending }) => ending === undefined);
    const { storage, accessRules, clock } = this.#parts;
    const parts = { read: storage.read, accessRules };
    const organizations = await organizationsOf(
      storage.read,
      streams.map(({ follower }) => follower),
    );
    await Promise.all(
      streams.map(async (stream) => {
        const end = await endOf(parts, stream.follower, organizations, stream.seen, clock());
        if (end !== undefined) return stream.end(end);
        const home = organizations.get(stream.follower.actor.homeId);
        if (home !== undefined) stream.seen = home;
      }),
    );
  }
}

/** Also where the database could not be asked: the tick ends the streams if that lasts. */
const NOTHING: Batch = [];

type Batch = readonly { readonly line: FeedLine | undefined; readonly cursor: FeedCursor }[];

class Stream {
  readonly follower: Follower;
  cursor: FeedCursor = { origin: '', from: { below: 0, underWay: [] }, atMs: 0 };
  /** The versions under which it was found to be allowed. */
  seen: { readonly authorityVersion: number; readonly rulesVersion: number };
  ending: FeedEnd | undefined;
  isClosed = false;
  /** When a line was handed over that the client has not taken yet. */
  handedAtMs: number | undefined;
  /** Set by whoever writes to the client. */
  cut: () => void = () => {};
  #wake: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(follower: Follower) {
    this.follower = follower;
    this.seen = follower.actor.home;
  }

  taken(): void {
    this.handedAtMs = undefined;
  }

  /** Resolves with the next reason to look. Asked for before looking, so that nothing can be missed in between. */
  woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#wake();
  }

  end(reason: FeedEnd): void {
    this.ending ??= reason;
    this.wake();
  }

  after(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, milliseconds);
    });
  }
}

const later = (milliseconds: number, stream: Stream): Promise<void> => stream.after(milliseconds);

const at = ({ cursor }: Stream): { readonly cursor: string } => ({ cursor: printCursor(cursor) });

const heartbeat = (stream: Stream, nowMs: number): FeedLine => ({ ...at(stream), now: toRfc3339(nowMs) });

const isSame = (one: Mark, other: Mark): boolean =>
  one.below === other.below && one.underWay.join() === other.underWay.join();

const eventOf = ({ kind, fields, updatedAtMs }: Change): Readonly<Record<string, string>> => ({
  kind,
  ...fields,
  updatedAt: toRfc3339(updatedAtMs),
});
