import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useClient } from '../api/client.ts';
import { connection, noteNextTry } from '../api/connection.ts';
import { follow, type Place, useLive } from '../api/live.ts';
import { refresh } from '../api/refresh-queries.ts';
import { useStore } from '../lib/store.ts';
import { useSession } from '../session/session.ts';

/** How long the page waits before it tries again. */
const RETRY_MS = 8_000;

/** Follows the news of the organization, and tries again by itself while the service does not answer. */
export function useFollow(): void {
  const client = useClient();
  const queries = useQueryClient();
  const isSignedIn = useSession() !== undefined;
  const { lostSinceMs } = useStore(connection);
  const isLost = lostSinceMs !== undefined;
  // Of each organization its own.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another client stands for another organization or key
  const place = useMemo((): Place => ({}), [client]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once the service answers, the feed need not wait for its turn
  useEffect(() => {
    if (!isSignedIn) return;
    const controller = new AbortController();
    void (async () => {
      while (!controller.signal.aborted) {
        await follow(client, queries, controller.signal, place);
        // The SDK goes on by itself after a lost connection; this is for what it takes for final.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    })();
    return () => controller.abort();
  }, [client, queries, isSignedIn, place, isLost]);

  useEffect(() => {
    if (!isLost || !isSignedIn) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const tryLater = (): void => {
      noteNextTry(Date.now() + RETRY_MS);
      timer = setTimeout(() => void tryNow(), RETRY_MS);
    };
    const tryNow = async (): Promise<void> => {
      clearTimeout(timer);
      // One small question instead of every open one; whoever answers it is back.
      await client.whoami({}, { signal: controller.signal }).catch(() => undefined);
      if (!controller.signal.aborted && connection.get().lostSinceMs !== undefined) tryLater();
    };
    const onOnline = (): void => void tryNow();
    tryLater();
    addEventListener('online', onOnline);
    return () => {
      clearTimeout(timer);
      controller.abort();
      removeEventListener('online', onOnline);
      // It is back, or the person has left: what could not be read meanwhile is asked for now.
      if (connection.get().lostSinceMs === undefined) refresh(queries);
    };
  }, [isLost, isSignedIn, client, queries]);
}

/** What the header says about the news: they come, they do not, or they are about to. */
export function useLiveState(): 'live' | 'connecting' | 'lost' {
  const { lostSinceMs } = useStore(connection);
  const { state } = useLive();
  return lostSinceMs === undefined ? state : 'lost';
}
