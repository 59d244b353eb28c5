import { useState } from 'react';
import type { Outcome } from '../../api/use-submit.ts';
import { useNow } from '../../app/now.ts';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { Note } from '../../kit/note.tsx';
import { count } from '../../lib/amounts.ts';
import styles from './webhooks.module.css';

/** `datetime-local` speaks of the zone of this browser. */
const toLocal = (ms: number): string =>
  new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** All that failed between two times, for a receiver that was away. */
export function ReplayManyDialog({
  endpointId,
  onClose,
}: {
  readonly endpointId: string;
  readonly onClose: () => void;
}) {
  const nowMs = useNow();
  const [since, setSince] = useState(() => toLocal(nowMs - 86_400_000));
  const [until, setUntil] = useState('');
  const [replayed, setReplayed] = useState<{ replayedCount: number; hasMore: boolean }>();
  const sinceMs = Date.parse(since);
  const untilMs = until === '' ? undefined : Date.parse(until);
  const onDone = (outcome: Outcome<unknown>): void => {
    if (outcome.state === 'completed') setReplayed(outcome.result as { replayedCount: number; hasMore: boolean });
  };
  return (
    <ActDialog
      method="replayWebhookDelivery"
      parameters={{
        endpointId,
        sinceMs: String(Number.isNaN(sinceMs) ? 0 : sinceMs),
        ...(untilMs !== undefined && !Number.isNaN(untilMs) && { untilMs: String(untilMs) }),
      }}
      title="Replay failed since…"
      description="Every delivery that failed or was given up in this time is sent again, with its old event id: a receiver that knows the id does nothing twice."
      act="Replay"
      acting="Replaying…"
      off={
        Number.isNaN(sinceMs)
          ? 'Choose a time.'
          : untilMs !== undefined && untilMs <= sinceMs && 'The end is before the beginning.'
      }
      done="The deliveries are sent again."
      onDone={onDone}
      onClose={onClose}
    >
      {replayed ? (
        <Note tone="info" title={`${count(replayed.replayedCount, 'delivery', 'deliveries')} sent again.`}>
          {replayed.hasMore && 'There are more: replay once again.'}
        </Note>
      ) : (
        <div className={styles.range}>
          <TextField label="Since" type="datetime-local" value={since} onChange={setSince} />
          <TextField label="Until" hint="empty: now" type="datetime-local" value={until} onChange={setUntil} />
        </div>
      )}
    </ActDialog>
  );
}
