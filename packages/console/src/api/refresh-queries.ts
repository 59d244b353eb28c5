import type { Query, QueryClient } from '@tanstack/react-query';
import { type Concern, isConcerned, together } from './concerns.ts';
import { isPages, type KeyOf, type Pick, withFirstPage } from './pages.ts';

/** What a query of many pages brings along, so that its first one can be read alone. */
export interface PagesMeta extends Record<string, unknown> {
  readonly pick: Pick;
  readonly keyOf?: KeyOf | undefined;
  readonly readFirst: (signal: AbortSignal) => Promise<unknown>;
}

const ignored = (): void => undefined;

/** Asks again for what is shown, and marks the rest as old. Of long lists only the first page is asked for. */
export function refresh(
  queries: QueryClient,
  concern: Concern = 'everything',
  isWanted: (query: Query) => boolean = () => true,
): void {
  const isMeant = (query: Query): boolean =>
    query.queryKey[0] === 'api' && isConcerned(concern, String(query.queryKey[2])) && isWanted(query);
  for (const query of queries.getQueryCache().findAll({ predicate: isMeant })) {
    if (hasManyPages(query) && query.isActive()) {
      void refreshFirstPage(queries, query);
      continue;
    }
    // A long list that is not shown begins at its top when it is opened again.
    if (hasManyPages(query)) queries.setQueryData(query.queryKey, firstOnly);
    query.invalidate();
    if (query.isActive()) void again(query).catch(ignored);
  }
}

/** What is on its way may have been read before the news: it is asked for again behind it, not in its place. */
async function again(query: Query): Promise<void> {
  if (query.state.fetchStatus === 'fetching') await query.fetch().catch(ignored);
  await query.fetch();
}

export const hasManyPages = ({ state: { data } }: Held): boolean => isPages(data) && data.pages.length > 1;
type Held = { readonly state: { readonly data: unknown } };

const firstOnly = (data: unknown): unknown =>
  isPages(data) ? { ...data, pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) } : data;

/** Lists whose first page is being read; news meanwhile read it once more. */
const reading = new Map<string, { isDue: boolean }>();

export async function refreshFirstPage(queries: QueryClient, query: Query): Promise<void> {
  const meta = query.meta as PagesMeta | undefined;
  if (meta?.readFirst === undefined) return;
  const busy = reading.get(query.queryHash);
  if (busy !== undefined) {
    busy.isDue = true;
    return;
  }
  const turn = { isDue: true };
  reading.set(query.queryHash, turn);
  try {
    while (turn.isDue) {
      turn.isDue = false;
      const fresh = await meta.readFirst(new AbortController().signal);
      queries.setQueryData(query.queryKey, (data: unknown) =>
        isPages(data) ? withFirstPage(data, fresh, meta.pick, meta.keyOf) : data,
      );
    }
  } catch (error) {
    // The list stays as it is; what is wrong with the connection is said elsewhere.
    queries.getQueryCache().config.onError?.(error as Error, query as Query<unknown, unknown>);
  } finally {
    reading.delete(query.queryHash);
  }
}

/** News often come in bursts: the first waits a moment for the others, and the next burst for its turn. */
const SETTLE_MS = 250;
const PAUSE_MS = 1000;

/** Collects what is stale and asks for it at most once a second; the last news always count. */
export class Refresher {
  readonly #refresh: (concern: Concern) => void;
  #concern: Concern = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(refresh: (concern: Concern) => void) {
    this.#refresh = refresh;
  }

  add(concern: Concern): void {
    this.#concern = together(this.#concern, concern);
    const waitMs = Math.max(SETTLE_MS, this.#lastMs + PAUSE_MS - Date.now());
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#lastMs = Date.now();
      const due = this.#concern;
      this.#concern = [];
      this.#refresh(due);
    }, waitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
