import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { refresh } from '../../api/refresh-queries.ts';
import { checkVotes } from '../../api/vote.ts';
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
import { type BatchItem, itemOf, sumAmounts, whyChanged } from './batch.ts';
import styles from './inbox.module.css';

/** What became of a request; those after one that had changed are not sent at all. */
type Result = { readonly status: string } | { readonly problem: string } | 'not-sent';

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
  const { sums, isPartial } = sumAmounts(items.flatMap(({ description }) => amountsOf(description)));
  const isDone = !isBusy && results.size === items.length;
  const offReason = useOffReason();

  /** Asks once more right before the vote: what was chosen may be another thing by now. */
  async function decide(item: BatchItem): Promise<Result> {
    const { activity } = item.approval;
    try {
      const { approval } = await client.getApproval({ activityId: activity.id });
      const { fingerprint } = approval.activity;
      const findings = verb === 'Approve' ? await checkVotes(client, activity.id, fingerprint) : undefined;
      const why = whyChanged(item, itemOf(approval), findings);
      if (why !== undefined) return { problem: `Not sent: ${why}.` };
      const vote =
        verb === 'Approve' ? client.approveActivity({ fingerprint }) : client.rejectActivity({ fingerprint });
      return { status: (await vote).activity.status };
    } catch (error) {
      const { title, text } = problemOf(error);
      return { problem: `${title} ${text}` };
    }
  }
  async function run(): Promise<void> {
    setIsBusy(true);
    let isStopped = false;
    for (const item of items) {
      const result: Result = isStopped ? 'not-sent' : await decide(item);
      isStopped ||= typeof result === 'object' && 'problem' in result;
      setResults((before) => new Map(before).set(item.approval.activity.id, result));
    }
    setIsBusy(false);
    refresh(queries);
  }
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
            <Button onClick={() => onClose(false)}>Cancel</Button>
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
  if (result === 'not-sent') {
    return (
      <div role="status">
        <StatusMark tone="plain" icon={false} bare>
          Not sent: one before it had changed.
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
