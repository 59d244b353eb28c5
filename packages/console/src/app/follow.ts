import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useClient } from '../api/client.ts';
import { connection } from '../api/connection.ts';
import { follow, useLive } from '../api/live.ts';
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

  useEffect(() => {
    if (!isSignedIn) return;
    const controller = new AbortController();
    void (async () => {
      while (!controller.signal.aborted) {
        await follow(client, queries, controller.signal);
        // The SDK goes on by itself after a lost connection; this is for what it takes for final.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    })();
    return () => controller.abort();
  }, [client, queries, isSignedIn]);

  useEffect(() => {
    if (!isLost || !isSignedIn) return;
    const timer = setInterval(() => void queries.invalidateQueries({ queryKey: ['api'] }), RETRY_MS);
    return () => clearInterval(timer);
  }, [isLost, isSignedIn, queries]);
}

/** What the header says about the news: they come, they do not, or they are about to. */
export function useLiveState(): 'live' | 'connecting' | 'lost' {
  const { lostSinceMs } = useStore(connection);
  const { state } = useLive();
  return lostSinceMs === undefined ? state : 'lost';
}
