import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { notice } from '../../api/query-client.ts';
import { refresh } from '../../api/refresh-queries.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Address } from '../../kit/address.tsx';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { ActivityStatus, StatusMark } from '../../kit/status-mark.tsx';
import { count } from '../../lib/amounts.ts';
import { listInWords } from '../../lib/text.ts';
import type { Verb } from '../request/confirm-dialog.tsx';
import { amountsOf } from '../request/moved.ts';
import { type BatchItem, sumAmounts } from './batch.ts';
import styles from './inbox.module.css';
import { type Result, runBatch } from './run-batch.ts';

export interface BatchDialogProps {
  readonly verb: Verb;
  readonly items: readonly BatchItem[];
  readonly onClose: (isDone: boolean) => void;
}

/** Several at once: their sum and every recipient, then what became of each. */
export function BatchDialog({ verb, items, onClose }: BatchDialogProps) {
  const client = useClient();
  const queries = useQueryClient();
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [isBusy, setIsBusy] = useState(false);
  const [isStopping, setIsStopping] = useState(false);
  const { sums, isPartial } = sumAmounts(items.flatMap(({ description }) => amountsOf(description)));
  const isDone = !isBusy && results.size === items.length;
  const offReason = useOffReason();

  const stopped = useRef(false);
  // Whoever leaves the page has stopped too: no vote goes out that nobody sees.
  useEffect(() => {
    stopped.current = false;
    return () => {
      stopped.current = true;
    };
  }, []);

  async function run(): Promise<void> {
    setIsBusy(true);
    await runBatch({
      client,
      verb,
      items,
      isStopped: () => stopped.current,
      onResult: (activityId, result) => setResults((before) => new Map(before).set(activityId, result)),
      onError: notice,
    });
    setIsBusy(false);
    refresh(queries);
  }
  const stop = (): void => {
    stopped.current = true;
    setIsStopping(true);
  };
  return (
    <Dialog
      open
      width="wide"
      isModalOnly={isBusy}
      onClose={() => onClose(isDone)}
      title={`${verb} ${count(items.length, 'request')}?`}
      footer={
        isDone ? (
          <Button kind="ink" onClick={() => onClose(true)}>
            Done
          </Button>
        ) : (
          <>
            {isBusy ? (
              <Button busy={isStopping && 'Stopping…'} onClick={stop}>
                Stop
              </Button>
            ) : (
              <Button onClick={() => onClose(false)}>Cancel</Button>
            )}
            <Button
              kind="ink"
              busy={isBusy && (verb === 'Approve' ? 'Approving…' : 'Rejecting…')}
              off={offReason}
              onClick={() => void run()}
            >
              {verb}
            </Button>
          </>
        )
      }
    >
      <div className={styles.more}>
        {sums.length > 0 && (
          <p className={styles.batchSum}>
            Together <b>{listInWords(sums)}</b>
            {isPartial && ', and amounts that cannot be added'}
          </p>
        )}
        {/* biome-ignore lint/a11y/noRedundantRoles: Safari takes the role from lists without bullets */}
        <ul role="list" className={styles.batch} aria-label="Requests">
          {items.map(({ approval, description }) => (
            <li key={approval.activity.id} className={styles.batchItem}>
              <Sentence parts={description.sentence} />
              {description.sender !== undefined && (
                <p className={styles.batchFrom}>
                  From <bdi>{description.sender.name ?? 'your wallet'}</bdi>{' '}
                  <Address address={description.sender.address} shape="decision" oneLine />
                </p>
              )}
              {description.recipients.length > 0 && <p className={styles.batchFrom}>To</p>}
              {description.recipients.map(({ address }) => (
                <Address key={address} address={address} shape="decision" oneLine />
              ))}
              <ResultOf result={results.get(approval.activity.id)} />
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

function ResultOf({ result }: { readonly result: Result | undefined }) {
  if (result === undefined) return null;
  if ('notSent' in result) {
    return (
      <div role="status">
        <StatusMark tone="plain" icon={false} bare>
          Not sent: {result.notSent}.
        </StatusMark>
      </div>
    );
  }
  return (
    <div role="status">
      {'status' in result ? (
        <ActivityStatus status={result.status} bare />
      ) : (
        <StatusMark tone="deny" bare>
          {result.problem}
        </StatusMark>
      )}
    </div>
  );
}
