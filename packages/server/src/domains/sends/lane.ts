import type { ChainSettings } from '../../chains/settings.ts';
import { ethereumRound } from '../../sends/ethereum/round.ts';
import { solanaRound } from '../../sends/solana/round.ts';
import type { SendLane } from './model.ts';
import { LaneLost, type LaneMemory, type Round, type SendParts } from './parts.ts';
import { saveProgress } from './save.ts';
import { SendReader, SendStore } from './store/sends.ts';

/** Of one address and each kind of state that are looked at together; the rest waits its turn. */
const SENDS_PER_ROUND = 128;
export const CLAIM_MS = 15_000;
const RENEW_EVERY_MS = 4000;
/** Between two rounds that only new sends have caused. */
const POKED_AFTER_MS = 10;
/** When nothing is on its way and only the depth of blocks is waited for. */
const SETTLING_POLLS = 5;
/** After a round that failed, doubling. */
const FAILED_MS_MAX = 30_000;

export interface LaneOptions {
  readonly parts: SendParts;
  readonly chain: ChainSettings;
  readonly lane: SendLane;
  /** Kept from one claim to the next. */
  readonly memory: LaneMemory;
  /** Whether another lane waits for the place of this one. */
  readonly isWanted: () => boolean;
  readonly failed: (error: unknown) => void;
  readonly succeeded: () => void;
}

/** Works on the sends of one paying address until none is under way, the claim is lost, or it is stopped. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #stopped = new AbortController();
  #isPoked = false;
  #wakeUp: (() => void) | undefined;
  readonly done: Promise<void>;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.done = this.#run();
  }

  /** A send may have come in. */
  poke(): void {
    this.#isPoked = true;
    this.#wakeUp?.();
  }

  stop(): void {
    this.#stopped.abort();
    this.#wakeUp?.();
  }

  async #run(): Promise<void> {
    const { parts, lane } = this.#options;
    const { storage, clock } = parts;
    const renewal = setInterval(() => {
      storage
        .write((store) => store(SendStore).renewLane(lane, clock() + CLAIM_MS))
        .then((isHeld) => isHeld || this.stop())
        .catch(() => {
          // What the lane writes is refused once another process has it, so that nothing depends on this.
        });
    }, RENEW_EVERY_MS);
    renewal.unref();
    let isClosed = false;
    try {
      isClosed = await this.#rounds();
    } catch (error) {
      if (error instanceof LaneLost) return;
      this.#options.failed(error);
    } finally {
      clearInterval(renewal);
    }
    if (isClosed) return;
    await storage
      .write((store) => store(SendStore).releaseLane(lane, clock()))
      .catch((error) => this.#options.failed(error));
  }

  /** True when nothing is left and the lane is closed. */
  async #rounds(): Promise<boolean> {
    const { parts, chain, lane, isWanted } = this.#options;
    const { storage } = parts;
    let failures = 0;
    /** When what is out is looked after again, however many sends come in meanwhile. */
    let followAt = 0;
    while (!this.#stopped.signal.aborted) {
      this.#isPoked = false;
      const isPoked = performance.now() < followAt;
      let pauseMs: number;
      try {
        const version = await storage.read(SendReader).laneVersion(lane.caip2, lane.lane);
        const { heldSince } = this.#options.memory;
        const shared = lane.lane === chain.operatorAddress ? { held: heldSince } : undefined;
        const open = await storage.read(SendReader).open(lane.caip2, lane.lane, SENDS_PER_ROUND, shared);
        if (open.length === 0) {
          if (await storage.write((store) => store(SendStore).closeLane(lane, version))) return true;
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
        if (chain.namespace === 'eip155') await ethereumRound(round, open, isPoked);
        else await solanaRound(round, open, isPoked);
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
      if (isWanted()) return false;
      if (!isPoked) followAt = performance.now() + pauseMs;
      await this.#pause(followAt - performance.now());
    }
    return false;
  }

  /** A send that comes in cuts it short. */
  async #pause(milliseconds: number): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const wait = (time: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, time);
        this.#wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    if (!this.#isPoked) await wait(Math.max(0, milliseconds));
    // Those that come together are begun together.
    if (this.#isPoked) await wait(Math.min(POKED_AFTER_MS, Math.max(0, milliseconds)));
    this.#wakeUp = undefined;
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
