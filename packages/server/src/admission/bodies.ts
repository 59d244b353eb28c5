import { ApiError } from '../lib/errors.ts';
import { LineOutside } from './pace.ts';
import { type AdmissionObserver, Refused } from './refused.ts';

export interface BodiesSettings {
  /** How much all bodies may take up before their requests start. */
  readonly bytesMax: number;
  readonly nowMs: () => number;
  readonly observe: AdmissionObserver;
}

const STAGE = 'body';
/** A body that pauses for longer is given up. */
const STALLED_MS = 5000;
/** The same while more than half of the room is taken. */
const STALLED_WHEN_SHORT_MS = 1000;
const SWEEP_MS = 500;
/** What a piece of a body costs besides its bytes: a client may send them one at a time. */
const PIECE_BYTES = 256;
/** How many of the refused may come again in a millisecond, so that to refuse them once more costs little. */
const AGAIN_PER_MS = 0.05;

interface Holder {
  bytes: number;
  readonly arriving: Set<Body>;
}

/** A body on its way in, and its bytes until the request that they are starts. */
export interface Body {
  received(bytes: number): void;
  /** It is whole: from here on the request waits for us, not we for it. */
  complete(): void;
  /** Its bytes are no longer counted. */
  release(): void;
  readonly isArriving: boolean;
  readonly lastProgressMs: number;
  /** Ends it with an answer. */
  cut(error: ApiError): void;
}

/**
 * Bounds the bytes of requests that nobody has vouched for yet. Bytes count as they arrive, whatever a request
 * declares.
 */
export class Bodies {
  readonly #settings: BodiesSettings;
  readonly #holders = new Map<string, Holder>();
  readonly #outside = new LineOutside();
  #bytes = 0;
  #arriving = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(settings: BodiesSettings) {
    this.#settings = settings;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get arriving(): number {
    return this.#arriving;
  }

  /** What a body is told for which there is no room, before any of it is read. */
  refusalFor(client: string, declaredBytes: number): Refused | undefined {
    const isTooMuch = (): boolean => this.#bytes + declaredBytes > this.#settings.bytesMax;
    if (isTooMuch()) this.#cutStalled();
    const holder = this.#holders.get(client);
    if (holder === undefined || holder.bytes === 0 || !isTooMuch() || this.#largest() !== holder) return undefined;
    return this.#refusal(this.#holders.size > 1);
  }

  open(client: string, cut: (error: ApiError) => void): Body {
    const holder = this.#holders.get(client) ?? { bytes: 0, arriving: new Set() };
    this.#holders.set(client, holder);
    const body = new CountedBody(this, client, holder, cut);
    holder.arriving.add(body);
    this.#arriving += 1;
    this.#sweep ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
    return body;
  }

  /** To be called by its bodies. */
  count(holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#settings.bytesMax) this.#makeRoom();
  }

  /** To be called by its bodies. */
  arrived(holder: Holder, body: Body): void {
    if (holder.arriving.delete(body)) this.#arriving -= 1;
  }

  /** To be called by its bodies. */
  ended(client: string, holder: Holder, bytes: number): void {
    holder.bytes -= bytes;
    this.#bytes -= bytes;
    if (holder.bytes === 0 && holder.arriving.size === 0) this.#holders.delete(client);
  }

  get nowMs(): number {
    return this.#settings.nowMs();
  }

  #largest(): Holder | undefined {
    let largest: Holder | undefined;
    for (const holder of this.#holders.values()) {
      if (holder.arriving.size > 0 && holder.bytes > (largest?.bytes ?? 0)) largest = holder;
    }
    return largest;
  }

  /** The client that has most of the room loses the body that waited longest for more. */
  #makeRoom(): void {
    while (this.#bytes > this.#settings.bytesMax) {
      const longest = mostStalled(this.#largest()?.arriving ?? []);
      if (longest === undefined) return;
      longest.cut(this.#refusal(this.#holders.size > 1));
    }
  }

  #cutStalled(): void {
    const isShort = this.#bytes > this.#settings.bytesMax / 2;
    const before = this.#settings.nowMs() - (isShort ? STALLED_WHEN_SHORT_MS : STALLED_MS);
    for (const { arriving } of this.#holders.values()) {
      for (const body of arriving) {
        if (body.lastProgressMs <= before) body.cut(isShort ? this.#refusal(false) : tooSlow());
      }
    }
  }

  sweep(): void {
    this.#cutStalled();
    if (this.#arriving > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #refusal(isShare: boolean): Refused {
    const reason = isShare ? 'share' : 'busy';
    this.#settings.observe.refused(STAGE, reason);
    const retryAfter = this.#outside.join(this.#settings.nowMs(), AGAIN_PER_MS);
    return new Refused(reason, 'too many bodies are on their way to the service', retryAfter);
  }
}

class CountedBody implements Body {
  readonly #bodies: Bodies;
  readonly #client: string;
  readonly #holder: Holder;
  readonly #cut: (error: ApiError) => void;
  #bytes = 0;
  #isOver = false;
  isArriving = true;
  lastProgressMs: number;

  constructor(bodies: Bodies, client: string, holder: Holder, cut: (error: ApiError) => void) {
    this.#bodies = bodies;
    this.#client = client;
    this.#holder = holder;
    this.#cut = cut;
    this.lastProgressMs = bodies.nowMs;
  }

  received(length: number): void {
    if (this.#isOver) return;
    const bytes = length + PIECE_BYTES;
    this.#bytes += bytes;
    this.lastProgressMs = this.#bodies.nowMs;
    this.#bodies.count(this.#holder, bytes);
  }

  complete(): void {
    this.isArriving = false;
    this.#bodies.arrived(this.#holder, this);
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.complete();
    this.#bodies.ended(this.#client, this.#holder, this.#bytes);
  }

  cut(error: ApiError): void {
    this.release();
    this.#cut(error);
  }
}

export function mostStalled(bodies: Iterable<Body>): Body | undefined {
  let found: Body | undefined;
  for (const body of bodies) if (found === undefined || body.lastProgressMs < found.lastProgressMs) found = body;
  return found;
}

const tooSlow = (): ApiError => new ApiError('REQUEST_INVALID', 'the request took too long to arrive');
