import { useQueryClient } from '@tanstack/react-query';
import { connection, tryNow } from '../api/connection.ts';
import { refresh } from '../api/refresh-queries.ts';
import { Button } from '../kit/button.tsx';
import { Note } from '../kit/note.tsx';
import { useStore } from '../lib/store.ts';
import { clock, clockMinutes, duration } from '../lib/time.ts';
import styles from './connection-banner.module.css';
import { useLiveState } from './follow.ts';
import { useNow } from './now.ts';

/** The service takes requests up to an hour old or five minutes ahead; times on the page mislead before that. */
const SKEW_TOLERATED_MS = 2 * 60_000;

/** No connection: since when, what is off, and when the page tries again. Clocks that differ too much: both times. */
export function ConnectionBanner() {
  const { lostSinceMs, nextTryMs, clockOffsetMs } = useStore(connection);
  const queries = useQueryClient();
  const now = useNow();
  if (lostSinceMs !== undefined) {
    return (
      <Note
        tone="wait"
        inline
        role="status"
        title={`No answer from the service since ${clockMinutes(lostSinceMs)}.`}
        actions={
          <Button size="small" onClick={() => tryNow() || refresh(queries)}>
            Try now
          </Button>
        }
      >
        What you see is from then. Voting is off until it is back; the page tries again by itself
        {nextTryMs !== undefined && `, next at ${clock(nextTryMs)}`}. A vote sent just before can be sent again: the
        same bytes count once.
      </Note>
    );
  }
  if (Math.abs(clockOffsetMs) < SKEW_TOLERATED_MS) return null;
  return (
    <Note
      tone="wait"
      icon="clock"
      title={`This computer is ${duration(Math.abs(clockOffsetMs))} ${clockOffsetMs > 0 ? 'behind' : 'ahead of'} the service.`}
    >
      Requests with the wrong time are refused. Set the clock. This computer: {clock(now)}; the service:{' '}
      {clock(now + clockOffsetMs)}.
    </Note>
  );
}

const WORDS = { live: 'Live', lost: 'No connection', connecting: 'Connecting' } as const;

/** The live state, for the header of a page. */
export function LiveState() {
  const state = useLiveState();
  return (
    <span className={styles.live} data-state={state}>
      {WORDS[state]}
    </span>
  );
}
