import { ApiError } from '../lib/errors.ts';
import { LIMITS } from '../lib/limits.ts';

/** What a restore of the database from a backup means for those that work on it. */
export interface RestorationFacts {
  readonly id: string;
  readonly restoredAtMs: number;
  readonly exhaustsWindows: boolean;
  /** Undefined while its fence is up. */
  readonly acceptedAtMs: number | undefined;
}

/** Whom the fence is asked about. */
export interface Fenced {
  readonly id: string;
  readonly parentId: string | undefined;
}

/** How it stands. */
export interface FenceShown {
  readonly isUp: boolean;
  /** Whether it holds everybody; otherwise somebody accepted the restore for some organizations. */
  readonly isWhole: boolean;
  /** Of the restore that waits to be accepted. */
  readonly restoredAtMs?: number;
  readonly doubt?: FenceDoubt;
}

interface State {
  /** The newest restore that nobody has accepted for all. */
  readonly open: RestorationFacts | undefined;
  /** For whom it was accepted, and for their sub-organizations. */
  readonly accepted: ReadonlySet<string>;
}

/** Why everything is held, if it is not because of a restore that waits to be accepted. */
export type FenceDoubt = 'not-loaded' | 'not-genuine' | 'restored-meanwhile';

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Stands between a database that was restored from a backup and everybody who would go on as if nothing had happened since
 * that (docs/decisions/0063): nothing is done for an organization until somebody accepts it, and what was issued before the
 * restore is refused for ever. What is not known is held.
 */
export class Fence {
  #state: State | undefined;
  #doubt: FenceDoubt | undefined = 'not-loaded';
  readonly #known = new Map<string, RestorationFacts>();
  readonly #gone = new Set<string>();
  #tell: (shown: FenceShown) => void = () => {};
  #told: string | undefined;

  /** Of a database that was never restored; for tests that have none. */
  static down(): Fence {
    const fence = new Fence();
    fence.load([], new Set());
    return fence;
  }

  /**
   * Takes over what the database says. What it said before is not taken back: a restoration stays accepted, and one that
   * is gone stays known. Answers with those that have gone since.
   */
  load(restorations: readonly RestorationFacts[], accepted: ReadonlySet<string>): readonly string[] {
    const isFirst = this.#state === undefined;
    for (const one of restorations) {
      // This process knows the database as it was before, and has kept parts of it.
      if (!isFirst && !this.#known.has(one.id)) this.#doubt = 'restored-meanwhile';
      this.#known.set(one.id, one);
    }
    const open = [...this.#known.values()]
      .filter(({ acceptedAtMs }) => acceptedAtMs === undefined)
      .sort((one, other) => one.restoredAtMs - other.restoredAtMs || (one.id < other.id ? -1 : 1))
      .at(-1);
    const found = new Set(restorations.map(({ id }) => id));
    // Where the open one is gone, what the database has accepted was accepted for an earlier one.
    this.#state = { open, accepted: open === undefined || found.has(open.id) ? accepted : new Set<string>() };
    if (this.#doubt !== 'restored-meanwhile') this.#doubt = undefined;
    const gone = [...this.#known.keys()].filter((id) => !found.has(id) && !this.#gone.has(id));
    for (const id of gone) this.#gone.add(id);
    this.#changed();
    return gone;
  }

  #changed(): void {
    const { shown } = this;
    const text = JSON.stringify(shown);
    if (text === this.#told) return;
    this.#told = text;
    this.#tell(shown);
  }

  /** What says whether there is a fence is not what this service wrote. */
  distrust(): void {
    this.#doubt = 'not-genuine';
    this.#changed();
  }

  get doubt(): FenceDoubt | undefined {
    return this.#doubt;
  }

  /** Whether anybody is held. */
  get isUp(): boolean {
    return this.#doubt !== undefined || this.#state?.open !== undefined;
  }

  /** Whether everybody is. */
  get isWhole(): boolean {
    return this.#doubt !== undefined || (this.isUp && this.#state?.accepted.size === 0);
  }

  /** The restore that is to be accepted; undefined where none is. */
  get restoration(): RestorationFacts | undefined {
    return this.#state?.open;
  }

  /** The restore that some organizations were accepted for, while others are held. */
  get scope(): string | undefined {
    return this.isUp && !this.isWhole ? this.#state?.open?.id : undefined;
  }

  /** For the operator. */
  get shown(): FenceShown {
    const { open } = this.#state ?? {};
    return {
      isUp: this.isUp,
      isWhole: this.isWhole,
      ...(open !== undefined && { restoredAtMs: open.restoredAtMs }),
      ...(this.#doubt !== undefined && { doubt: this.#doubt }),
    };
  }

  /** Calls back now and whenever something else is shown. */
  onChange(tell: (shown: FenceShown) => void): void {
    this.#told = undefined;
    this.#tell = tell;
    this.#changed();
  }

  holds({ id, parentId }: Fenced): boolean {
    if (!this.isUp) return false;
    if (this.isWhole) return true;
    const accepted = this.#state?.accepted;
    return !(accepted?.has(id) || (parentId !== undefined && accepted?.has(parentId)));
  }

  /** Refuses whatever would be done for an organization that is held. */
  requireLifted(organization: Fenced): void {
    const refusal = this.refusalFor(organization);
    if (refusal !== undefined) throw refusal;
  }

  refusalFor(organization: Fenced): ApiError | undefined {
    return this.holds(organization) ? this.#refusal() : undefined;
  }

  /** Until when something issued may have been used without a trace here; of several restores the last. */
  get restoredAtMs(): number {
    return lastOf(this.#known.values());
  }

  /** The last restore that velocity windows count as full for, until they no longer reach back to it. */
  get exhaustedAtMs(): number {
    return lastOf([...this.#known.values()].filter(({ exhaustsWindows }) => exhaustsWindows));
  }

  /**
   * Refuses a body that may have run before the restore. A body may be timestamped ahead by so much, and one that was would
   * otherwise run once more.
   */
  requireNewBody(timestampMs: number): void {
    const { restoredAtMs } = this;
    const untilMs = restoredAtMs + LIMITS.liveAfterMs;
    if (restoredAtMs === NEVER || timestampMs > untilMs) return;
    throw new ApiError(
      'ISSUED_BEFORE_RESTORE',
      `timestampMs: the database was restored from a backup at ${textOf(restoredAtMs)}, and a body that may have run before is refused for ever; sign one with a timestamp after ${textOf(untilMs)}, because bodies may be ${LIMITS.liveAfterMs / 60_000} minutes ahead`,
    );
  }

  /** Refuses what was issued before the restore, by a clock that may have been ahead by so much. */
  requireNew(what: string, issuedAtMs: number | undefined, aheadMsMax = 0): void {
    const { restoredAtMs } = this;
    if (restoredAtMs === NEVER) return;
    const untilMs = restoredAtMs + aheadMsMax;
    if (issuedAtMs !== undefined && issuedAtMs > untilMs) return;
    const when = issuedAtMs === undefined ? 'it does not say when it was issued' : `it is from ${textOf(issuedAtMs)}`;
    throw new ApiError(
      'ISSUED_BEFORE_RESTORE',
      `${what} may have been used before the database was restored from a backup, and is refused for ever (${when}); only what is issued after ${textOf(untilMs)} counts`,
    );
  }

  #refusal(): ApiError {
    const open = this.#state?.open;
    const since =
      open === undefined
        ? 'the service cannot tell whether its database was restored from a backup'
        : `the database was restored from a backup at ${textOf(open.restoredAtMs)}`;
    const todo =
      this.#doubt === 'restored-meanwhile'
        ? 'the operator has to restart this process, review what the backup lacks and accept it'
        : 'the operator has to review what the backup lacks and accept it';
    return new ApiError(
      'FENCED',
      `${since}: ${todo} (custos restore review, custos restore accept). Until then queries are answered and nothing else; nothing was done or stored`,
    );
  }
}

const lastOf = (restorations: Iterable<RestorationFacts>): number =>
  [...restorations].reduce((last, { restoredAtMs }) => Math.max(last, restoredAtMs), NEVER);

const textOf = (atMs: number): string => new Date(atMs).toISOString();
