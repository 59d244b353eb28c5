import type { Activity } from '@custos/sdk';
import { LinkButton } from '../../../kit/link-button.tsx';
import { count } from '../../../lib/amounts.ts';
import type { Draft } from '../draft.ts';
import { changesIn, changeWords } from './changes.ts';
import styles from './simulation.module.css';
import type { Replay } from './use-replay.ts';

export interface ReplayBarProps {
  readonly replay: Replay;
  readonly activities: readonly Activity[];
  /** What is tried; undefined while there is none without errors. */
  readonly draft: Draft | undefined;
  readonly onStart: () => void;
  readonly onStop: () => void;
}

/** The last requests, decided again by the stored policies and with the draft. */
export function ReplayBar({ replay, activities, draft, onStart, onStop }: ReplayBarProps) {
  const { state, tried, skipped, total } = replay;
  const changes = changesIn(tried);
  const changed = changes.reduce((sum, one) => sum + one.count, 0);
  const isStale = state === 'done' && replay.draft !== draft;
  const seen = tried.length + skipped;
  return (
    <section aria-label="Last requests, tried again" className={styles.replay}>
      <div className={styles.replayHead}>
        <h3>Last {count(state === 'idle' ? activities.length : total, 'request')}, tried again</h3>
        {state === 'runs' ? (
          <LinkButton onClick={onStop}>Stop</LinkButton>
        ) : (
          draft !== undefined &&
          activities.length > 0 && (
            <LinkButton onClick={onStart}>{state === 'idle' ? 'Try them' : 'Try again'}</LinkButton>
          )
        )}
      </div>
      <div className={styles.bar} aria-hidden="true">
        <span className={styles.same} style={{ flexGrow: Math.max(0, tried.length - changed) }} />
        {changed > 0 && <span className={styles.changed} style={{ flexGrow: changed }} />}
        <span style={{ flexGrow: Math.max(0, (state === 'idle' ? 1 : total) - tried.length) }} />
      </div>
      <div className={styles.replayWords} aria-live="polite">
        {state === 'idle' ? (
          <span>Simulate tries them too: each is decided again, and none is done.</span>
        ) : state === 'runs' ? (
          <span>
            {seen} of {total}
          </span>
        ) : (
          <>
            <span>
              {tried.length - changed} as before
              {skipped > 0 && `, ${skipped} cannot be tried now`}
              {seen < total && `, ${total - seen} not tried`}
              {isStale && ', by an earlier draft'}
            </span>
            <span className={styles.changes}>
              {changes.length === 0 ? 'none changes' : changes.map((change) => changeWords(change)).join(', ')}
            </span>
          </>
        )}
      </div>
    </section>
  );
}
