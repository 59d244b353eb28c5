import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useClient } from '../api/client.ts';
import { connection, tryNow } from '../api/connection.ts';
import { follow, isLive, type Place, useLive } from '../api/live.ts';
import { refresh } from '../api/refresh-queries.ts';
import { useStore } from '../lib/store.ts';
import { useSession } from '../session/session.ts';
import { paced, probeUntilBack, RETRY_MS } from './probe.ts';

/** Follows the news of the organization, and tries again by itself while the service does not answer. */
export function useFollow(): void {
  const client = useClient();
  const queries = useQueryClient();
  const isSignedIn = useSession() !== undefined;
  const { lostSinceMs } = useStore(connection);
  const isLost = lostSinceMs !== undefined;
  const [returns, setReturns] = useState(0);
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
  }, [client, queries, isSignedIn, place, returns]);

  const everything = useMemo(() => paced(() => refresh(queries), RETRY_MS), [queries]);
  useEffect(() => () => everything.stop(), [everything]);

  useEffect(() => {
    if (!isLost || !isSignedIn) return;
    const stop = probeUntilBack(
      // One small question instead of every open one; whoever answers it is back.
      (signal) => client.whoami({}, { signal }),
      () => {
        everything.act();
        // A feed that goes on was never lost: only one that waits for its turn begins anew.
        if (!isLive()) setReturns((before) => before + 1);
      },
    );
    addEventListener('online', tryNow);
    return () => {
      removeEventListener('online', tryNow);
      stop();
    };
  }, [isLost, isSignedIn, client, everything]);
}

/** What the header says about the news: they come, they do not, or they are about to. */
export function useLiveState(): 'live' | 'connecting' | 'lost' {
  const { lostSinceMs } = useStore(connection);
  const { state } = useLive();
  return lostSinceMs === undefined ? state : 'lost';
}
