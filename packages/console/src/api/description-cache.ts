import type { Description } from './types.ts';

/** What one query takes. */
export const DESCRIPTIONS_MAX = 100;
/** Rows come into view in bursts. Those of a burst are asked for together, once it ends or has lasted for long. */
const GATHER_MS = 40;
const GATHER_MAX_MS = 200;
/** Names in a sentence may change. */
const FRESH_MS = 60_000;
const RETRY_MS = 5_000;
/** Of the rows that left the view, people return to few. */
const KEPT_MAX = 1_000;

/** A description, or null where the service has none for that activity; undefined while it is not known. */
type Known = Description | null | undefined;

interface Entry {
  known: Known;
  askedAtMs: number;
  readonly watchers: Set<() => void>;
}

/**
 * The sentences of activities that lists show. Rows that somebody scrolls past cost nothing: a row that has left the view is
 * not asked for, and few of those that were are kept.
 */
export class DescriptionCache {
  readonly #describe: (activityIds: readonly string[]) => Promise<readonly Description[]>;
  readonly #watched = new Map<string, Entry>();
  /** Those that nobody watches, the one that was left last at the end. */
  readonly #left = new Map<string, Entry>();
  readonly #due = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueSinceMs = 0;
  #version = 0;

  constructor(describe: (activityIds: readonly string[]) => Promise<readonly Description[]>) {
    this.#describe = describe;
  }

  /** Another one after each answer. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#watched.size + this.#left.size;
  }

  get(activityId: string): Known {
    return (this.#watched.get(activityId) ?? this.#left.get(activityId))?.known;
  }

  /** Asks for it unless it is known, and calls when it becomes known. Returns what ends that. */
  watch(activityId: string, changed: () => void): () => void {
    const entry = this.#watched.get(activityId) ??
      this.#left.get(activityId) ?? { known: undefined, askedAtMs: Number.NEGATIVE_INFINITY, watchers: new Set() };
    this.#left.delete(activityId);
    this.#watched.set(activityId, entry);
    entry.watchers.add(changed);
    if (Date.now() - entry.askedAtMs > FRESH_MS) this.#ask([activityId]);
    return () => {
      entry.watchers.delete(changed);
      if (entry.watchers.size > 0 || !this.#watched.delete(activityId)) return;
      this.#due.delete(activityId);
      if (entry.known !== undefined) this.#leave(activityId, entry);
    };
  }

  #leave(activityId: string, entry: Entry): void {
    this.#left.set(activityId, entry);
    const [oldest] = this.#left.keys();
    if (this.#left.size > KEPT_MAX && oldest !== undefined) this.#left.delete(oldest);
  }

  #ask(activityIds: readonly string[]): void {
    if (this.#due.size === 0) this.#dueSinceMs = Date.now();
    for (const activityId of activityIds) this.#due.add(activityId);
    const leftMs = this.#dueSinceMs + GATHER_MAX_MS - Date.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, Math.min(GATHER_MS, leftMs)));
  }

  #flush(): void {
    const due = [...this.#due];
    this.#due.clear();
    for (let from = 0; from < due.length; from += DESCRIPTIONS_MAX) {
      void this.#load(due.slice(from, from + DESCRIPTIONS_MAX));
    }
  }

  async #load(activityIds: readonly string[]): Promise<void> {
    const askedAtMs = Date.now();
    for (const entry of this.#entriesOf(activityIds)) entry.askedAtMs = askedAtMs;
    try {
      const found = await this.#describe(activityIds);
      const byId = new Map(found.map((description) => [description.activityId, description]));
      this.#version += 1;
      for (const activityId of activityIds) {
        const entry = this.#watched.get(activityId);
        if (entry === undefined) continue;
        entry.known = byId.get(activityId) ?? null;
        for (const changed of entry.watchers) changed();
      }
    } catch {
      for (const entry of this.#entriesOf(activityIds)) entry.askedAtMs = Number.NEGATIVE_INFINITY;
      setTimeout(() => this.#askAgain(activityIds), RETRY_MS);
    }
  }

  #askAgain(activityIds: readonly string[]): void {
    const wanted = activityIds.filter((id) => this.#watched.get(id)?.askedAtMs === Number.NEGATIVE_INFINITY);
    if (wanted.length > 0) this.#ask(wanted);
  }

  #entriesOf(activityIds: readonly string[]): Entry[] {
    return activityIds.flatMap((activityId) => this.#watched.get(activityId) ?? []);
  }
}
