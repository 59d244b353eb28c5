import type { SendLane, SendLaneName } from '../../chains/send/model.ts';
import type { LaneMemory, SendParts } from '../../chains/send/parts.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { holdOf } from '../../fence/hold.ts';
import { boundedMap } from '../../lib/bounded-map.ts';
import { apartEach, isDone } from '../../storage/integrity/apart.ts';
import { tellOnce } from '../../workers/away.ts';
import { backOffMs } from '../../workers/back-off.ts';
import type { Topic } from '../../workers/claim.ts';
import type { Strategy } from '../../workers/strategy.ts';
import { LeasedWorker } from '../../workers/worker.ts';
import { Lane, type LaneClaim, type LaneEnd } from './lane.ts';
import { LaneReader, LaneStore } from './store/lanes.ts';

/** Addresses that one process works on at a time. */
const LANES_MAX = 64;
/** Addresses of which something is remembered while another one has their place. */
const MEMORIES_MAX = 10_000;

/** Lanes that may be set aside at a time; of more the first ones are tried again. */
const ASIDE_MAX = 1000;
/** Until a lane is tried again whose row is not genuine, doubling. */
const ASIDE = { firstMs: 1000, mostMs: 30_000 };

interface LaneTopic extends Topic {
  readonly name: SendLaneName;
}

const topicOf = (name: SendLaneName): LaneTopic => ({ key: `${name.caip2} ${name.lane}`, name });

/**
 * Lanes may take turns among processes, so that what is missing counts from one turn to the next, but not from long
 * ago.
 */
const FORGOTTEN_MS = 5 * 60 * 1000;

/** What is known from the last turn. */
function memoryOf(known: LaneMemory | undefined, nowMs: number): LaneMemory {
  const memory = known ?? {
    seenAtMs: nowMs,
    broadcastAtMs: new Map(),
    lookedAtMs: new Map(),
    heldSince: new Map(),
    begunAtMs: new Map(),
    missingSince: new Map(),
    hasFinality: false,
  };
  if (nowMs - memory.seenAtMs > FORGOTTEN_MS) memory.missingSince.clear();
  return memory;
}

/** Lanes that nobody can work on because their rows are not genuine: others are claimed in their places. */
class AsideLanes {
  readonly #lanes = new Map<string, { readonly failures: number; readonly untilMs: number }>();

  get size(): number {
    return this.#lanes.size;
  }

  has(key: string, nowMs: number): boolean {
    return (this.#lanes.get(key)?.untilMs ?? nowMs) > nowMs;
  }

  add(key: string, nowMs: number): void {
    const failures = (this.#lanes.get(key)?.failures ?? 0) + 1;
    if (this.#lanes.size >= ASIDE_MAX) this.#lanes.clear();
    this.#lanes.set(key, { failures, untilMs: nowMs + backOffMs(ASIDE, failures) });
  }

  delete(key: string): void {
    this.#lanes.delete(key);
  }
}

/**
 * Sends transactions that activities have stored, with any number of processes at it. An address is one process's at a
 * time; what a process that died or stalled had, another takes over when its claim is over, and what the old one then
 * still wants to write is refused.
 */
export class SendDispatcher implements AsyncDisposable {
  readonly #worker: LeasedWorker<LaneTopic, LaneClaim, LaneEnd>;
  readonly #hasChains: boolean;

  constructor(parts: SendParts) {
    const { chains, clock, elapsed, observe } = parts;
    const { failed, recovered } = tellOnce((error) => observe.unavailable('sends', error));
    const strategy = laneStrategy(parts, { failed, succeeded: recovered });
    // Nodes may be away while the database is there: only a round that succeeds says that the outage is over.
    this.#worker = new LeasedWorker(strategy, {
      clock,
      elapsed,
      hold: holdOf(parts.storage),
      observe: { failed, recovered: () => {} },
    });
    this.#hasChains = chains.length > 0;
  }

  start(): void {
    if (this.#hasChains) this.#worker.start();
  }

  /** To be called after a commit with sends in it, with their lanes; without it they wait for the next poll. */
  wake(lanes: readonly SendLaneName[]): void {
    this.#worker.wake(lanes.map(topicOf));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Takes nothing new and finishes what it is at. */
  async stop(): Promise<void> {
    await this.#worker.stop();
  }
}

function laneStrategy(
  parts: SendParts,
  told: { readonly failed: (error: unknown) => void; readonly succeeded: () => void },
): Strategy<LaneTopic, LaneClaim, LaneEnd> {
  const { storage, clock, elapsed } = parts;
  const chains = new Map<string, ChainSettings>(parts.chains.map((chain) => [chain.caip2, chain]));
  const memories = boundedMap<LaneMemory>(MEMORIES_MAX);
  const owner = parts.newId();
  const aside = new AsideLanes();
  return {
    limits: { all: LANES_MAX },
    topics: 'claim',
    // Fenced by the epoch of the lane.
    lease: { ms: 15_000, renewEveryMs: 4000, isFenced: true },
    pollEveryMs: 1000,
    stopMs: 6000,
    // Organizations share the lane of the operator, and may have the same address.
    whose: () => undefined,
    async recover() {
      // The embedded database has one process: who else has claimed something was killed.
      if (storage.kind === 'sqlite') await storage.write((store) => store(LaneStore).releaseAllLanes());
    },
    async due(nowMs) {
      const free = await storage
        .read(LaneReader)
        .freeLanes([...chains.keys()], nowMs, LANES_MAX + aside.size, storage.fence.scope);
      const topics = free.map(topicOf).filter(({ key }) => !aside.has(key, elapsed()));
      return topics.slice(0, LANES_MAX);
    },
    async claim({ key, name: { caip2, lane } }, _room, nowMs, untilMs) {
      if (!chains.has(caip2)) return [];
      let claimed: SendLane | undefined;
      const isGenuine = await isDone(async () => {
        claimed = await storage.write((store) => store(LaneStore).claimLane(caip2, lane, owner, nowMs, untilMs));
      });
      if (isGenuine) aside.delete(key);
      else aside.add(key, elapsed());
      return claimed === undefined ? [] : [{ key, lane: claimed }];
    },
    async renew(claims, _nowMs, untilMs) {
      // One that is not genuine any more is lost.
      const { results: renewed } = await apartEach(claims, async ({ lane }) => {
        const isRenewed = await storage.write((store) => store(LaneStore).renewLane(lane, untilMs));
        return isRenewed ? [topicOf(lane)] : [];
      });
      return renewed;
    },
    async serve(lease) {
      const { key, lane } = lease.claim;
      const chain = chains.get(lane.caip2);
      if (chain === undefined) return 'ended';
      const memory = memoryOf(memories.get(key), elapsed());
      memories.set(key, memory);
      return await new Lane({ parts, chain, lease, memory, ...told }).run();
    },
    async release({ lane }, end) {
      if (end === 'closed' || end === 'lost') return undefined;
      // One that is not genuine any more is free when its claim is over.
      await isDone(() => storage.write((store) => store(LaneStore).releaseLane(lane, clock())));
      return end === 'left' ? 0 : undefined;
    },
    // A node that hangs longer than a stop waits must not keep the address from other processes.
    releaseAll: () => storage.write((store) => store(LaneStore).releaseOwner(owner, clock())),
  };
}
