/** From when on something is so, by the chain and by the clock: some chains make several blocks a second. */
export interface Since {
  readonly height: bigint;
  /** By the clock that is never set. */
  readonly atMs: number;
}

/** What makes a send a failed one must have been so for this long, however many blocks there were. */
const LASTING_MS = 30_000;
/** How long a send that failed is looked for on a chain that makes no blocks. */
const WATCHED_MS_MAX = 10 * 60 * 1000;

/** When it was first so; now, unless that is noted. */
export function sinceOf(noted: Map<string, Since>, id: string, now: Since): Since {
  const since = noted.get(id) ?? now;
  noted.set(id, since);
  return since;
}

export const hasLasted = (since: Since, now: Since, blocks: bigint): boolean =>
  now.height - since.height >= blocks && now.atMs - since.atMs >= LASTING_MS;

/** Whether a send that failed, and has not turned up since, was looked for during enough blocks. */
export const isWatchOver = (since: Since, now: Since, blocks: bigint): boolean =>
  hasLasted(since, now, now.atMs - since.atMs >= WATCHED_MS_MAX ? 0n : blocks);
