import type { CustosClient } from '@custos/sdk';
import type { QueryClient } from '@tanstack/react-query';
import { createStore, useStore } from '../lib/store.ts';
import { noticeEnd } from './query-client.ts';

/** Whether the page is told of news as they happen. */
export interface Live {
  readonly state: 'connecting' | 'live' | 'lost';
  /** Since when. */
  readonly sinceMs: number;
}

const live = createStore<Live>({ state: 'connecting', sinceMs: Date.now() });

export const useLive = (): Live => useStore(live);

const enter = (state: Live['state']): void => {
  if (live.get().state !== state) live.set({ state, sinceMs: Date.now() });
};

/** What an event makes stale: methods of the client whose answers may have changed. */
const STALE: Readonly<Record<string, readonly string[]>> = {
  ACTIVITY: [],
  SEND: ['listSends', 'getSendTransactionStatus', 'getWalletAddressBalances'],
  WEBHOOK_DELIVERY: ['listWebhookDeliveries', 'getWebhookDelivery', 'getWebhookStatistics'],
};

/** News often come in bursts; the page asks once for each. */
const SETTLE_MS = 250;

/** Follows the organization until the signal says otherwise, and refreshes what the page shows. */
export async function follow(client: CustosClient, queries: QueryClient, signal: AbortSignal): Promise<void> {
  const stale = new Set<string>();
  let everything = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refresh = (): void => {
    timer = undefined;
    const all = everything;
    const methods = new Set(stale);
    everything = false;
    stale.clear();
    void queries.invalidateQueries({
      queryKey: ['api'],
      predicate: ({ queryKey }) => all || methods.has(String(queryKey[2])),
    });
  };
  enter('connecting');
  try {
    const hears = { signal, onOpen: () => enter('live'), onInterrupted: () => enter('lost') };
    for await (const event of client.feed(hears)) {
      const methods = STALE[event.kind];
      if (methods === undefined || methods.length === 0) everything = true;
      else for (const method of methods) stale.add(method);
      timer ??= setTimeout(refresh, SETTLE_MS);
    }
  } catch (error) {
    if (!signal.aborted) {
      enter('lost');
      noticeEnd(error);
    }
  } finally {
    clearTimeout(timer);
  }
}
