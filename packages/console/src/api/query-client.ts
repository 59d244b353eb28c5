import { CustosError, NetworkError } from '@custos/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { onLeaving } from '../lib/leaving.ts';
import { currentSession, endSession } from '../session/session.ts';
import { noteLoss } from './connection.ts';
import { isStampedBy } from './stamped-by.ts';

/**
 * What every failure says of the whole page. An answer that did not come in time is noted here: `fetch` cannot tell it
 * from a page that was left.
 */
export function notice(error: unknown): void {
  if (error instanceof NetworkError) noteLoss();
  noticeEnd(error);
}

/** Whatever is asked, a key that the service no longer takes ends the session in this browser too. */
export function noticeEnd(error: unknown): void {
  if (!(error instanceof CustosError) || error.httpStatus !== 401) return;
  const session = currentSession();
  if (session === undefined || !isStampedBy(error.request, session.publicKey)) return;
  endSession(error.code === 'API_KEY_EXPIRED' || session.expiresAtMs <= Date.now() ? 'expired' : 'revoked');
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    // The SDK repeats what helps to be repeated; the feed says when something is new.
    queries: { retry: false, staleTime: 5_000, refetchOnWindowFocus: true, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});

onLeaving(() => queryClient.clear());
