import type { AddressFormat } from '@custos/keyring';
import type { Audience, ChainReader, WatchedBlock } from '../../chains/balances/reader.ts';
import { networkOf } from '../../chains/networks.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { Clock } from '../../lib/clock.ts';
import type { NewId, OrganizationId, WebhookEndpointId } from '../../lib/ids.ts';
import { apart } from '../../storage/integrity/apart.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Stores } from '../../storage/stores.ts';
import type { BalanceCursor, BalancePlace, Holder } from './model.ts';
import { BalanceWatchReader, BalanceWatchStore } from './store.ts';
import { type News, newsOf, tell, undoing } from './tell.ts';

/** Of who is killed another takes the watch over so much later. */
const CLAIM_MS = 15_000;
/** Blocks that are remembered so that their news can be taken back; no chain undoes more in practice. */
const KEPT_BLOCKS = 256;
/**
 * Accounts of a chain whose addresses are looked at in every block for what contracts give them inside a transaction.
 */
const LISTED_MAX = 5000;
/** For how long a list of all addresses is good; those that a block names are looked up each time. */
const LIST_MS = 30_000;
/** Addresses of a block that are looked up together. */
const LOOKED_UP_MAX = 1000;

export interface BalanceObserver {
  balanceEvents(place: BalancePlace, count: number): void;
  /** Blocks that nobody will be told of. */
  balanceBlocksSkipped(place: BalancePlace, count: number): void;
  unavailable(operation: string, cause: unknown): void;
}

export interface WatchParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly elapsed: Clock;
  readonly newId: NewId;
  readonly owner: string;
  readonly catchUpBlocks: number;
  readonly wake: (endpointIds: readonly WebhookEndpointId[]) => void;
  readonly observe: BalanceObserver;
}

/** Follows one chain at one level, a block for each step and each step a transaction. */
export class Watch {
  readonly #parts: WatchParts;
  /** Of the addresses of the chain. */
  readonly #format: AddressFormat;
  readonly #place: BalancePlace;
  readonly #reader: ChainReader;
  /** Organizations whose endpoints want to hear of their trees. */
  roots: ReadonlySet<OrganizationId> = new Set();
  #listed: { readonly keys: readonly string[] | undefined; readonly untilMs: number; readonly roots: unknown } = {
    keys: [],
    untilMs: Number.NEGATIVE_INFINITY,
    roots: undefined,
  };

  constructor(parts: WatchParts, { caip2 }: ChainSettings, place: BalancePlace, reader: ChainReader) {
    this.#parts = parts;
    this.#format = networkOf(caip2).address.format;
    this.#place = place;
    this.#reader = reader;
  }

  /**
   * Tells of the next block, or takes back the last one; false when there is nothing to do, or another process does it.
   */
  async step(): Promise<boolean> {
    const { storage, clock, owner, catchUpBlocks } = this.#parts;
    const cursor = await this.#cursor();
    if (cursor !== undefined && cursor.owner !== owner && cursor.claimedUntilMs > clock()) return false;
    const tip = await this.#reader.tip();
    if (tip === undefined) return false;
    if (cursor === undefined) return await this.#begin(tip);
    if (tip <= BigInt(cursor.number)) return false;
    const claimed = await storage.write((store) =>
      store(BalanceWatchStore).claim(this.#place, owner, clock(), clock() + CLAIM_MS),
    );
    if (!claimed) return false;
    const behind = tip - BigInt(cursor.number);
    if (behind > BigInt(catchUpBlocks)) {
      const from = await this.#reader.next(tip - BigInt(catchUpBlocks) - 1n, tip);
      return from !== undefined && (await this.#jump(cursor, from));
    }
    const block = await this.#reader.next(BigInt(cursor.number), tip);
    if (block === undefined) return false;
    if (block.parentHash !== cursor.hash) return await this.#undo(cursor, block);
    return await this.#tell(cursor, block);
  }

  async #cursor(): Promise<BalanceCursor | undefined> {
    return await this.#parts.storage.read(BalanceWatchReader).cursor(this.#place);
  }

  /** With the newest block: what was before nobody has asked for. */
  async #begin(tip: bigint): Promise<boolean> {
    const { storage, owner, clock } = this.#parts;
    const hash = await this.#reader.hashAt(tip);
    if (hash === undefined) return false;
    const claimedUntilMs = clock() + CLAIM_MS;
    const cursor = { ...this.#place, number: Number(tip), hash, turn: 0, owner, claimedUntilMs };
    await storage.write((store) => store(BalanceWatchStore).begin(cursor));
    return true;
  }

  /** Goes on from a block without a word on those before it. */
  async #jump(cursor: BalanceCursor, { number, hash }: WatchedBlock): Promise<boolean> {
    const { storage, observe } = this.#parts;
    const after = { number: Number(number), hash, turn: cursor.turn + 1 };
    const isDone = await storage.write(async (store) => {
      if (!(await store(BalanceWatchStore).advance(cursor, after))) return false;
      await store(BalanceWatchStore).forget(this.#place, after.number, 0);
      return true;
    });
    if (isDone) observe.balanceBlocksSkipped(this.#place, after.number - cursor.number);
    return isDone;
  }

  async #tell(cursor: BalanceCursor, block: WatchedBlock): Promise<boolean> {
    const holders = new Map<string, readonly Holder[]>();
    const changes = await block.changes(this.#audience(holders));
    if (changes === undefined) return false;
    await this.#lookUp(new Set(changes.map(({ key }) => key)), holders);
    const news = newsOf(cursor, block, changes, holders);
    const number = Number(block.number);
    return await this.#write(cursor, { number, hash: block.hash, turn: cursor.turn }, news, async (store, told) => {
      await store(BalanceWatchStore).keep(this.#place, { number, hash: block.hash, told });
      await store(BalanceWatchStore).forget(this.#place, number - KEPT_BLOCKS, number + 1);
    });
  }

  /** Takes back what was told of the last block, if the chain has another one in its place. */
  async #undo(cursor: BalanceCursor, next: WatchedBlock): Promise<boolean> {
    const number = BigInt(cursor.number);
    const instead = await this.#reader.hashAt(number);
    // Nodes that contradict each other, or lack a block, are asked again later: only a block that stands there instead,
    // or one that is built on an earlier block, says that this one is gone.
    const isGone = instead === undefined ? next.parentNumber < number : instead !== cursor.hash;
    if (!isGone || next.parentNumber > number) return false;
    const balanceWatch = this.#parts.storage.read(BalanceWatchReader);
    const last = await balanceWatch.newestKept(this.#place, cursor.number + 1);
    const before = (await balanceWatch.newestKept(this.#place, cursor.number)) ?? (await this.#before(number));
    if (before === undefined) return false;
    const news = last?.hash === cursor.hash ? last.told : [];
    const after = { number: before.number, hash: before.hash, turn: cursor.turn + 1 };
    return await this.#write(cursor, after, news.map(undoing), (store) =>
      store(BalanceWatchStore).forget(this.#place, 0, cursor.number),
    );
  }

  /** Where the watch goes on when no block before is remembered: whatever stands in this place now is told. */
  async #before(number: bigint): Promise<{ readonly number: number; readonly hash: string } | undefined> {
    const block = await this.#reader.next(number - 1n, number);
    return block && { number: Number(number) - 1, hash: block.parentHash };
  }

  /** Moves on and tells in one transaction; whoever is not the first to move on writes nothing. */
  async #write(
    cursor: BalanceCursor,
    after: Pick<BalanceCursor, 'number' | 'hash' | 'turn'>,
    news: readonly News[],
    more: (store: Stores, told: readonly News[]) => Promise<void>,
  ): Promise<boolean> {
    const { storage, newId, clock, wake, observe } = this.#parts;
    const outcome = await storage.write(async (store) => {
      if (!(await store(BalanceWatchStore).advance(cursor, after))) return undefined;
      const { told, endpoints } = await tell(store, cursor, news, newId, clock());
      await more(store, told);
      return { count: told.length, endpoints };
    });
    if (outcome === undefined) return false;
    if (outcome.endpoints.length > 0) wake(outcome.endpoints);
    if (outcome.count > 0) observe.balanceEvents(this.#place, outcome.count);
    return true;
  }

  #audience(holders: Map<string, readonly Holder[]>): Audience {
    return {
      among: async (keys) => {
        await this.#lookUp(keys, holders);
        return new Set([...keys].filter((key) => (holders.get(key) ?? []).length > 0));
      },
      all: () => this.#list(),
    };
  }

  /** Finds who has the addresses that are not known yet; an index answers, whatever their number is. */
  async #lookUp(keys: ReadonlySet<string>, holders: Map<string, readonly Holder[]>): Promise<void> {
    const unknown = [...keys].filter((key) => !holders.has(key));
    for (let start = 0; start < unknown.length; start += LOOKED_UP_MAX) {
      const some = unknown.slice(start, start + LOOKED_UP_MAX);
      for (const key of some) holders.set(key, []);
      for (const holder of await this.#holdersOf(some)) {
        if (!this.roots.has(holder.parentId ?? holder.organizationId)) continue;
        holders.set(holder.key, [...(holders.get(holder.key) ?? []), holder]);
      }
    }
  }

  /** An account that somebody else wrote into the database is nobody's, and keeps the others from nothing. */
  async #holdersOf(keys: readonly string[]): Promise<readonly Holder[]> {
    const { storage } = this.#parts;
    const read = (some: readonly string[]) => storage.read(BalanceWatchReader).holders(some, this.#format);
    return (await apart(keys, read)).results;
  }

  async #list(): Promise<readonly string[] | undefined> {
    const { storage, elapsed } = this.#parts;
    const { roots } = this;
    if (elapsed() < this.#listed.untilMs && this.#listed.roots === roots) return this.#listed.keys;
    const keys = await storage.read(BalanceWatchReader).addresses([...roots], this.#format, LISTED_MAX + 1);
    const untilMs = elapsed() + LIST_MS;
    this.#listed = { keys: keys.length > LISTED_MAX ? undefined : [...new Set(keys)], untilMs, roots };
    return this.#listed.keys;
  }
}
