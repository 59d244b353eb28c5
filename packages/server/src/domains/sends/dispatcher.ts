import type { ChainSettings } from '../../chains/settings.ts';
import type { SendLaneName } from '../../engine/send-lane.ts';
import { boundedMap } from '../../lib/bounded-map.ts';
import { oneAtATime } from '../../lib/one-at-a-time.ts';
import { CLAIM_MS, Lane } from './lane.ts';
import type { LaneMemory, SendParts } from './parts.ts';
import { SendReader, SendStore } from './store/sends.ts';

const LOOK_EVERY_MS = 1000;
/** Addresses that one process works on at a time. */
const LANES_MAX = 64;
/** Addresses of which something is remembered while another one has their place. */
const MEMORIES_MAX = 10_000;

const keyOf = ({ caip2, lane }: SendLaneName): string => `${caip2} ${lane}`;

/** Lanes may take turns among processes, so that what is missing counts from one turn to the next, but not from long ago. */
const FORGOTTEN_MS = 5 * 60 * 1000;

/** What is known from the last turn. */
function memoryOf(known: LaneMemory | undefined, nowMs: number): LaneMemory {
  const memory = known ?? {
    seenAtMs: nowMs,
    broadcastAtMs: new Map(),
    lookedAtMs: new Map(),
    heldSince: new Map(),
    missingSince: new Map(),
    hasFinality: false,
  };
  if (nowMs - memory.seenAtMs > FORGOTTEN_MS) memory.missingSince.clear();
  return memory;
}

/**
 * Sends transactions that activities have stored, with any number of processes at it. An address is one process's at a
 * time; what a process that died or stalled had, another takes over when its claim is over, and what the old one then
 * still wants to write is refused.
 */
export class SendDispatcher implements AsyncDisposable {
  readonly #parts: SendParts;
  readonly #chains: ReadonlyMap<string, ChainSettings>;
  readonly #lanes = new Map<string, Lane>();
  readonly #memories = boundedMap<LaneMemory>(MEMORIES_MAX);
  readonly #owner: string;
  readonly #look = oneAtATime(
    () => this.#guard(() => this.#claim()),
    () => this.#state === 'running',
  );
  #state: 'new' | 'starting' | 'running' | 'stopping' = 'new';
  #starting = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #waiting = 0;
  #isAway = false;

  constructor(parts: SendParts) {
    this.#parts = parts;
    this.#chains = new Map(parts.chains.map((chain) => [chain.caip2, chain]));
    this.#owner = parts.newId();
  }

  start(): void {
    if (this.#state !== 'new' || this.#chains.size === 0) return;
    this.#state = 'starting';
    this.#starting = this.#releaseAbandoned().then(() => {
      if (this.#state !== 'starting') return;
      this.#state = 'running';
      this.#tick();
    });
  }

  /** To be called after a commit with sends in it, with their lanes; without it they wait for the next look. */
  wake(lanes: readonly SendLaneName[]): void {
    const running = lanes.map((lane) => this.#lanes.get(keyOf(lane)));
    for (const lane of running) lane?.poke();
    // Nobody may have it yet.
    if (running.includes(undefined)) this.#look.call();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Takes nothing new and finishes what it is at. */
  async stop(): Promise<void> {
    this.#state = 'stopping';
    clearTimeout(this.#timer);
    await this.#starting;
    await this.#look.done();
    for (const lane of this.#lanes.values()) lane.stop();
    await Promise.all([...this.#lanes.values()].map(({ done }) => done));
  }

  /** The embedded database has one process: who else has claimed something was killed. */
  async #releaseAbandoned(): Promise<void> {
    const { storage } = this.#parts;
    if (storage.kind !== 'sqlite') return;
    await this.#guard(() => storage.write((store) => store(SendStore).releaseAllLanes()));
  }

  #tick(): void {
    if (this.#state !== 'running') return;
    this.#look.call();
    this.#timer = setTimeout(() => this.#tick(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async #claim(): Promise<void> {
    const { storage, clock } = this.#parts;
    const free = await storage.read(SendReader).freeLanes([...this.#chains.keys()], clock(), LANES_MAX);
    const wanted = free.filter((lane) => !this.#lanes.has(keyOf(lane)));
    this.#waiting = Math.max(0, wanted.length + this.#lanes.size - LANES_MAX);
    for (const { caip2, lane } of wanted.slice(0, LANES_MAX - this.#lanes.size)) {
      const chain = this.#chains.get(caip2);
      const nowMs = clock();
      const claimed = await storage.write((store) =>
        store(SendStore).claimLane(caip2, lane, this.#owner, nowMs, nowMs + CLAIM_MS),
      );
      if (claimed === undefined || chain === undefined) continue;
      const key = keyOf(claimed);
      const memory = memoryOf(this.#memories.get(key), this.#parts.elapsed());
      this.#memories.set(key, memory);
      const running = new Lane({
        parts: this.#parts,
        chain,
        lane: claimed,
        memory,
        isWanted: () => {
          if (this.#waiting === 0) return false;
          this.#waiting -= 1;
          return true;
        },
        failed: (error) => this.#reportAway(error),
        succeeded: () => {
          this.#isAway = false;
        },
      });
      this.#lanes.set(key, running);
      void running.done.finally(() => {
        if (this.#lanes.get(key) === running) this.#lanes.delete(key);
        this.#look.call();
      });
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

  /** Once until something has succeeded again: rounds come every second. */
  #reportAway(error: unknown): void {
    if (!this.#isAway) this.#parts.observe.unavailable('sends', error);
    this.#isAway = true;
  }
}
