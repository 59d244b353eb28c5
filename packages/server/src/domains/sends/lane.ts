import { serviceOf } from '../../chains/index.ts';
import type { SendLane } from '../../chains/send/model.ts';
import { LaneLost, type LaneMemory, type Round, type SendParts } from '../../chains/send/parts.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { Claim } from '../../workers/claim.ts';
import type { Lease } from '../../workers/lease.ts';
import { saveProgress } from './save.ts';
import { SendReader, SendStore } from './store/sends.ts';

/** Of one address and each kind of state that are looked at together; the rest waits its turn. */
const SENDS_PER_ROUND = 128;
/** Between two rounds that only new sends have caused. */
const POKED_AFTER_MS = 10;
/** When nothing is on its way and only the depth of blocks is waited for. */
const SETTLING_POLLS = 5;
/** After a round that failed, doubling. */
const FAILED_MS_MAX = 30_000;

/** The epoch of the lane tells this claim from every later one: nothing is written without it. */
export interface LaneClaim extends Claim {
  readonly lane: SendLane;
}

/** Nothing is under way and the lane is closed, others want its place, it stops, or another process has it. */
export type LaneEnd = 'closed' | 'left' | 'ended' | 'lost';

export interface LaneOptions {
  readonly parts: SendParts;
  readonly chain: ChainSettings;
  readonly lease: Lease<LaneClaim>;
  /** Kept from one claim to the next. */
  readonly memory: LaneMemory;
  readonly failed: (error: unknown) => void;
  readonly succeeded: () => void;
}

/** Works on the sends of one paying address until none is under way, the lease is over, or others want its place. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #lane: SendLane;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#lane = options.lease.claim.lane;
  }

  async run(): Promise<LaneEnd> {
    try {
      return await this.#rounds();
    } catch (error) {
      if (error instanceof LaneLost) return 'lost';
      throw error;
    }
  }

  async #rounds(): Promise<LaneEnd> {
    const { parts, chain, lease } = this.#options;
    const { storage } = parts;
    const lane = this.#lane;
    let failures = 0;
    /** When what is out is looked after again, however many sends come in meanwhile. */
    let followAt = 0;
    while (!lease.isOver) {
      lease.listen();
      const isPoked = performance.now() < followAt;
      let pauseMs: number;
      try {
        const version = await storage.read(SendReader).laneVersion(lane.caip2, lane.lane);
        const { heldSince } = this.#options.memory;
        const shared = lane.lane === chain.operatorAddress ? { held: heldSince } : undefined;
        const open = await storage.read(SendReader).open(lane.caip2, lane.lane, SENDS_PER_ROUND, shared);
        if (open.length === 0) {
          if (await storage.write((store) => store(SendStore).closeLane(lane, version))) return 'closed';
          continue;
        }
        this.#forget(new Set(open.map(({ id }) => id as string)));
        const round: Round = {
          parts,
          chain,
          lane,
          memory: this.#options.memory,
          save: (send, progress) => saveProgress(parts, lane, send, progress),
        };
        const startedAtMs = parts.elapsed();
        await serviceOf(chain.caip2).round(round, open, isPoked);
        failures = 0;
        if (!isPoked) this.#options.memory.seenAtMs = startedAtMs;
        this.#options.succeeded();
        const isSettling = open.every(({ state }) => state === 'INCLUDED' || state === 'FAILED');
        pauseMs = chain.pollMs * (isSettling ? SETTLING_POLLS : 1);
      } catch (error) {
        if (error instanceof LaneLost) throw error;
        this.#options.failed(error);
        failures += 1;
        pauseMs = Math.min(chain.pollMs * 2 ** Math.min(failures, 10), FAILED_MS_MAX);
      }
      if (!isPoked) followAt = performance.now() + pauseMs;
      const restMs = followAt - performance.now();
      // A send that comes in cuts it short, and those that come together are begun together.
      await lease.rest(restMs);
      if (lease.isWanted) return 'left';
      if (lease.isWoken) await lease.pause(Math.min(POKED_AFTER_MS, restMs));
    }
    return 'ended';
  }

  #forget(open: ReadonlySet<string>): void {
    const { broadcastAtMs, lookedAtMs, missingSince, heldSince } = this.#options.memory;
    for (const map of [broadcastAtMs, lookedAtMs, missingSince]) {
      for (const id of map.keys()) if (!open.has(id)) map.delete(id);
    }
    // Those that were not read are still held, but not for ever.
    const oldestMs = this.#options.parts.elapsed() - this.#options.chain.sendWithinSeconds * 1000;
    for (const [id, sinceMs] of heldSince) if (!open.has(id) && sinceMs < oldestMs) heldSince.delete(id);
  }
}
