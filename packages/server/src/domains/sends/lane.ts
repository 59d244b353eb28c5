import { serviceOf } from '../../chains/index.ts';
import type { Send, SendLane, SendProgress } from '../../chains/send/model.ts';
import { isShared, LaneLost, type LaneMemory, type Round, type SendParts } from '../../chains/send/parts.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import { isHeld } from '../../fence/hold.ts';
import { isViolation } from '../../storage/integrity/apart.ts';
import type { Claim } from '../../workers/claim.ts';
import type { Lease } from '../../workers/lease.ts';
import { saveProgress } from './save.ts';
import { LaneReader, LaneStore } from './store/lanes.ts';
import { SendReader } from './store/sends.ts';

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
        const version = await storage.read(LaneReader).laneVersion(lane.caip2, lane.lane);
        const { heldSince } = this.#options.memory;
        const held = isShared({ chain, lane }) ? heldSince : undefined;
        const { scope } = storage.fence;
        const chosen = await storage.read(SendReader).open(lane.caip2, lane.lane, SENDS_PER_ROUND, { held, scope });
        const found = scope === undefined ? chosen : await this.#withoutHeld(chosen);
        // What else is in the lane waits for organizations that are held: it is not closed.
        if (found.length === 0 && scope !== undefined) return 'ended';
        const open = this.#withoutOlder(found, held !== undefined);
        if (found.length === 0) {
          if (await storage.write((store) => store(LaneStore).closeLane(lane, version))) return 'closed';
          continue;
        }
        this.#forget(new Set(open.map(({ id }) => id as string)));
        const round: Round = {
          parts,
          chain,
          lane,
          memory: this.#options.memory,
          isPartial: scope !== undefined,
          save: (send, progress) => this.#save(send, progress),
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
        // Nothing is away, and what is not genuine was told of where it was noticed.
        if (!isViolation(error)) this.#options.failed(error);
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

  async #save(send: Send, progress: SendProgress): Promise<Send> {
    const { parts, memory } = this.#options;
    const saved = await saveProgress(parts, this.#lane, send, progress);
    if (send.attempts.length === 0 && saved.attempts.length > 0) memory.begunAtMs.set(send.id, parts.elapsed());
    return saved;
  }

  /** Those of organizations that a restore was accepted for. */
  async #withoutHeld(sends: readonly Send[]): Promise<Send[]> {
    const { storage } = this.#options.parts;
    const lifted = new Set<string>();
    for (const organizationId of new Set(sends.map((send) => send.organizationId)))
      if (!(await isHeld(storage, organizationId))) lifted.add(organizationId);
    return sends.filter(({ organizationId }) => lifted.has(organizationId));
  }

  /**
   * A row that was put back as it was before it was sent is genuine, and would be sent once more. Its time is limited by when
   * it was made; until then this process knows better.
   */
  #withoutOlder(found: readonly Send[], isShared: boolean): readonly Send[] {
    const { parts, memory } = this.#options;
    const isOlder = ({ id, attempts }: Send): boolean => attempts.length === 0 && memory.begunAtMs.has(id);
    const refusals = found
      .filter(isOlder)
      .map(({ organizationId, id }) =>
        parts.storage.integrity.refuse({ table: 'chain_send', organizationId, row: id, because: 'mark' }),
      );
    if (refusals.length === 0) return found;
    if (!isShared || refusals.length === found.length) throw refusals[0];
    return found.filter((send) => !isOlder(send));
  }

  #forget(open: ReadonlySet<string>): void {
    const { broadcastAtMs, lookedAtMs, missingSince, heldSince } = this.#options.memory;
    for (const map of [broadcastAtMs, lookedAtMs, missingSince]) {
      for (const id of map.keys()) if (!open.has(id)) map.delete(id);
    }
    // Those that were not read are still held, but not for ever.
    const withinMs = this.#options.chain.sendWithinSeconds * 1000;
    const oldestMs = this.#options.parts.elapsed() - withinMs;
    const { begunAtMs } = this.#options.memory;
    // Those that follow on another one may be begun later.
    for (const [id, atMs] of begunAtMs) {
      if (atMs >= oldestMs - withinMs) break;
      begunAtMs.delete(id);
    }
    for (const [id, sinceMs] of heldSince) if (!open.has(id) && sinceMs < oldestMs) heldSince.delete(id);
  }
}
