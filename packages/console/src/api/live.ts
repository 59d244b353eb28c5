import type { CustosClient } from '@custos/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { createStore, useStore } from '../lib/store.ts';
import { concernOf } from './concerns.ts';
import { noticeEnd } from './query-client.ts';
import { Refresher, refresh } from './refresh-queries.ts';

/** Whether the page is told of news as they happen. */
export interface Live {
  readonly state: 'connecting' | 'live' | 'lost';
  /** Since when. */
  readonly sinceMs: number;
}

const live = createStore<Live>({ state: 'connecting', sinceMs: Date.now() });

export const useLive = (): Live => useStore(live);
export const isLive = (): boolean => live.get().state === 'live';

const enter = (state: Live['state']): void => {
  if (live.get().state !== state) live.set({ state, sinceMs: Date.now() });
};

/** Where a feed stands, over all the times that it is begun again. */
export interface Place {
  cursor?: string;
  isOpened?: boolean;
}

/**
 * Follows the organization until the signal says otherwise, and refreshes what the page shows. A feed that begins without
 * a place says nothing of what happened before: what was asked for until then is asked for again.
 */
export async function follow(
  client: CustosClient,
  queries: QueryClient,
  signal: AbortSignal,
  place: Place = {},
): Promise<void> {
  const refresher = new Refresher((concern) => refresh(queries, concern));
  const onOpen = (): void => {
    enter('live');
    if (place.cursor !== undefined) return;
    // What is on its way when a page opens its first feed was asked for together with it.
    const isAgain = place.isOpened === true;
    place.isOpened = true;
    refresh(
      queries,
      'everything',
      ({ state }) => state.dataUpdatedAt > 0 || (isAgain && state.fetchStatus === 'fetching'),
    );
  };
  enter('connecting');
  try {
    const { cursor } = place;
    const hears = { signal, onOpen, onInterrupted: () => enter('lost'), ...(cursor !== undefined && { cursor }) };
    for await (const event of client.feed(hears)) {
      place.cursor = event.cursor;
      refresher.add(concernOf(event));
    }
  } catch (error) {
    if (!signal.aborted) {
      enter('lost');
      noticeEnd(error);
      // It ended for good. Whether the session did too, one question tells at once.
      await client.whoami({}, { signal }).catch(noticeEnd);
    }
  } finally {
    refresher.stop();
  }
}
