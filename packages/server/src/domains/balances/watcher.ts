import { BALANCE_LEVELS, type BalanceLevel } from '../../chains/balances/level.ts';
import type { ChainReader, ReaderObserver } from '../../chains/balances/reader.ts';
import { serviceOf } from '../../chains/index.ts';
import type { Nodes } from '../../chains/nodes/node.ts';
import type { ConfiguredChains } from '../../chains/settings.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { tellOnce } from '../../workers/away.ts';
import { pause } from '../../workers/pause.ts';
import type { WorkerObserver } from '../../workers/strategy.ts';
import { BALANCE_EVENT_TYPES, type BalancePlace } from './model.ts';
import type { BalanceSubscriber } from './store.ts';
import { BalanceWatchReader, BalanceWatchStore } from './store.ts';
import { type BalanceObserver, Watch, type WatchParts } from './watch.ts';

const LOOK_EVERY_MS = 1000;
const FAILED_MS_MAX = 30_000;

export interface WatcherParts extends Omit<WatchParts, 'owner' | 'observe'> {
  readonly chains: ConfiguredChains;
  readonly nodes: Nodes;
  readonly observe: BalanceObserver & ReaderObserver;
}

interface Wanted {
  readonly place: BalancePlace;
  readonly roots: ReadonlySet<OrganizationId>;
}

interface Running {
  readonly watch: Watch;
  readonly stop: () => void;
  readonly done: Promise<void>;
}

/**
 * Tells endpoints what wallet addresses receive and spend, with any number of processes at it: each chain and level is
 * one process's at a time (docs/decisions/0042). Chains that no endpoint asks for are not watched.
 */
export class BalanceWatcher implements AsyncDisposable {
  readonly #parts: WatcherParts;
  readonly #owner: string;
  readonly #running = new Map<string, Running>();
  #state: 'new' | 'running' | 'stopping' = 'new';
  #timer: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();
  readonly #outage: WorkerObserver;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#owner = parts.newId();
    this.#outage = tellOnce((error) => parts.observe.unavailable('balances', error));
  }

  start(): void {
    if (this.#state !== 'new' || this.#parts.chains.size === 0) return;
    this.#state = 'running';
    this.#looking = this.#releaseAbandoned().then(() => this.#look());
  }

  /** Takes no further step, finishes the one it is at, and leaves the rest to other processes. */
  async stop(): Promise<void> {
    const wasRunning = this.#state === 'running';
    this.#state = 'stopping';
    clearTimeout(this.#timer);
    await this.#looking;
    for (const { stop } of this.#running.values()) stop();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    if (wasRunning)
      await this.#guard(() => this.#parts.storage.write((store) => store(BalanceWatchStore).release(this.#owner)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #releaseAbandoned(): Promise<void> {
    const { storage } = this.#parts;
    if (storage.kind === 'sqlite')
      await this.#guard(() => storage.write((store) => store(BalanceWatchStore).releaseAll()));
  }

  async #look(): Promise<void> {
    await this.#guard(async () => {
      // It tells everybody of the same blocks, so it waits for all of them to be accepted or goes on for all: what it tells
      // those who are still held is stored, and not sent.
      if (this.#parts.storage.fence.isWhole) return await this.#pauseAll();
      const subscribers = await this.#parts.storage.read(BalanceWatchReader).subscribers();
      const wanted = this.#wanted(subscribers);
      await this.#end(wanted, subscribers);
      for (const { place, roots } of wanted.values()) this.#watch(place, roots);
      this.#outage.recovered();
    });
    if (this.#state !== 'running') return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, LOOK_EVERY_MS).unref();
  }

  async #pauseAll(): Promise<void> {
    for (const { stop } of this.#running.values()) stop();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#running.clear();
  }

  /** Which of this process's chains are asked for at which level, and by whom. */
  #wanted(subscribers: readonly BalanceSubscriber[]): ReadonlyMap<string, Wanted> {
    const wanted = new Map<string, Wanted>();
    for (const caip2 of this.#parts.chains.keys()) {
      for (const level of BALANCE_LEVELS) {
        const place = { caip2, level };
        const roots = subscribers.filter((one) => asksFor(one, place)).map(({ organizationId }) => organizationId);
        if (roots.length > 0) wanted.set(keyOf(place), { place, roots: new Set(roots) });
      }
    }
    return wanted;
  }

  /**
   * What nobody asks for any more is forgotten: who asks again hears of what happens from then on. Only subscriptions
   * decide that. A chain that this process does not know may be another's, as while a new configuration is rolled out.
   */
  async #end(wanted: ReadonlyMap<string, unknown>, subscribers: readonly BalanceSubscriber[]): Promise<void> {
    const { storage } = this.#parts;
    for (const [key, { stop, done }] of this.#running) {
      if (wanted.has(key)) continue;
      stop();
      await done;
      this.#running.delete(key);
    }
    const isAskedFor = (all: readonly BalanceSubscriber[], place: BalancePlace) =>
      all.some((one) => asksFor(one, place));
    for (const cursor of await storage.read(BalanceWatchReader).cursors()) {
      if (isAskedFor(subscribers, cursor)) continue;
      await storage.write(async (store) => {
        const balanceWatch = store(BalanceWatchStore);
        // Somebody may have asked for it in between.
        if (!isAskedFor(await balanceWatch.subscribers(), cursor)) await balanceWatch.end(cursor);
      });
    }
  }

  #watch(place: BalancePlace, roots: ReadonlySet<OrganizationId>): void {
    const known = this.#running.get(keyOf(place));
    if (known !== undefined) {
      if (!isSame(known.watch.roots, roots)) known.watch.roots = roots;
      return;
    }
    const chain = this.#parts.chains.get(place.caip2);
    if (chain === undefined || this.#state !== 'running') return;
    const { chains: _chains, nodes: _nodes, ...parts } = this.#parts;
    const watch = new Watch({ ...parts, owner: this.#owner }, chain, place, this.#reader(place.caip2, place.level));
    watch.roots = roots;
    const end = new AbortController();
    this.#running.set(keyOf(place), {
      watch,
      stop: () => end.abort(),
      done: this.#run(watch, place, chain.pollMs, end.signal),
    });
  }

  #reader(caip2: string, level: BalanceLevel): ChainReader {
    const { nodes, observe } = this.#parts;
    return serviceOf(caip2).reader(nodes, caip2, level, observe);
  }

  async #run(watch: Watch, { caip2, level }: BalancePlace, pollMs: number, end: AbortSignal): Promise<void> {
    let failures = 0;
    while (!end.aborted) {
      let pauseMs = 0;
      try {
        if (!(await watch.step())) pauseMs = pollMs;
        failures = 0;
      } catch (error) {
        if (failures === 0 && !end.aborted) this.#parts.observe.unavailable(`balances ${caip2} ${level}`, error);
        failures += 1;
        pauseMs = Math.min(pollMs * 2 ** Math.min(failures, 10), FAILED_MS_MAX);
      }
      if (pauseMs > 0) await pause(pauseMs, end);
    }
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#outage.failed(error);
    }
  }
}

const asksFor = ({ asks }: BalanceSubscriber, { caip2, level }: BalancePlace): boolean =>
  asks.some(({ eventType, chains }) => eventType === BALANCE_EVENT_TYPES[level] && (chains?.includes(caip2) ?? true));

const keyOf = ({ caip2, level }: BalancePlace): string => `${caip2} ${level}`;

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((item) => other.has(item));
