import { type Actor, credentialIdOf } from '../../../core/actor.ts';
import type { OpenActivity } from '../../../core/store/open-activities.ts';
import type { ReadStores } from '../../../storage/stores.ts';

/** What rules say of the time of day, and what the parent decides, shows in no version. */
const KEPT_MS = 5000;
const ENTRIES_MAX = 50_000;

/**
 * Whether activities waited for a reader a moment ago. A badge asks after every change, and most of what is open has not
 * changed since.
 */
class AwaitedCache {
  readonly #entries = new Map<string, { readonly isAwaited: boolean; readonly atMs: number }>();

  get(key: string, nowMs: number): boolean | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || Math.abs(nowMs - entry.atMs) >= KEPT_MS ? undefined : entry.isAwaited;
  }

  put(key: string, isAwaited: boolean, nowMs: number): void {
    // The oldest is first: an entry that is put again moves to the end.
    this.#entries.delete(key);
    this.#entries.set(key, { isAwaited, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#entries) {
      if (this.#entries.size <= ENTRIES_MAX && Math.abs(nowMs - atMs) < KEPT_MS) break;
      this.#entries.delete(oldest);
    }
  }
}

/** One for each database, and as long as it is open. */
const caches = new WeakMap<ReadStores, AwaitedCache>();

export function awaitedCacheOf(read: ReadStores): AwaitedCache {
  const known = caches.get(read);
  if (known !== undefined) return known;
  const made = new AwaitedCache();
  caches.set(read, made);
  return made;
}

/** Differs whenever the reader, the activity or the rules do. */
export function awaitedKeyOf(actor: Actor, { id, updatedAtMs }: OpenActivity, isLapsed: boolean): string {
  const { organization, home, userId } = actor;
  const versions = [organization, home].map(
    ({ authorityVersion, rulesVersion }) => `${authorityVersion},${rulesVersion}`,
  );
  return [id, updatedAtMs, isLapsed ? 1 : 0, userId, credentialIdOf(actor) ?? '', ...versions].join(' ');
}
