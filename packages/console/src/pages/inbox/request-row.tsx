import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { Approval } from '../../api/approvals.ts';
import type { Description, Risk } from '../../api/types.ts';
import { Avatar } from '../../kit/avatar.tsx';
import { RiskMark, riskWord } from '../../kit/risk-mark.tsx';
import { Seal, type SealTone } from '../../kit/seal.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { ActivityStatus, activityStatusWord } from '../../kit/status-mark.tsx';
import { Time, TimeLeft } from '../../kit/time.tsx';
import { cx } from '../../lib/cx.ts';
import { timeLeft } from '../../lib/time.ts';
import { isOpen } from '../request/words.ts';
import styles from './inbox.module.css';

export interface RequestRowProps {
  readonly approval: Approval;
  readonly isOpenNow: boolean;
  readonly isGone: boolean;
  /** Where several are decided at once: whether it is one of them, and why it cannot be. */
  readonly choice?:
    | { readonly isChosen: boolean; readonly off: string | undefined; readonly onToggle: () => void }
    | undefined;
}

const TONES: Readonly<Record<string, SealTone>> = {
  ACTIVITY_STATUS_COMPLETED: 'done',
  ACTIVITY_STATUS_REJECTED: 'deny',
  ACTIVITY_STATUS_FAILED: 'deny',
};

/** One request. The whole row opens it. */
export function RequestRow({ approval, isOpenNow, isGone, choice }: RequestRowProps) {
  const { activity, progress, description } = approval;
  const mark = worstMark(description);
  const tone = TONES[activity.status];
  const reasonId = useId();
  const isChoiceOff = choice !== undefined && choice.off !== undefined && !choice.isChosen;
  return (
    <div className={cx(styles.row, isOpenNow && styles.rowOpen, isGone && styles.rowGone)}>
      {choice === undefined ? (
        <Seal given={progress.given} required={progress.required} {...(tone && { tone })} />
      ) : (
        <input
          type="checkbox"
          className={styles.choice}
          aria-label={`Choose: ${description.text}`}
          checked={choice.isChosen}
          // Not `disabled`: it stays reachable, so that everybody can learn why it is off. Ticks can be taken back.
          aria-disabled={isChoiceOff || undefined}
          aria-describedby={choice.off === undefined ? undefined : reasonId}
          onChange={isChoiceOff ? () => undefined : choice.onToggle}
        />
      )}
      <div className={styles.rowText}>
        <Link
          to="/inbox/$activityId"
          params={{ activityId: activity.id }}
          className={styles.rowLink}
          data-request={activity.id}
          {...(isOpenNow && { 'aria-current': 'true' as const })}
        >
          <Sentence parts={description.sentence} />
        </Link>
        {choice?.off !== undefined && (
          <p id={reasonId} className={styles.choiceOff}>
            {choice.isChosen ? 'Left out' : 'Not together'}: {choice.off}.
          </p>
        )}
        {mark !== undefined && <RiskMark risk={mark.risk} text={mark.text} />}
        <p className={styles.rowMeta}>
          {progress.submitter !== undefined && (
            <>
              <Avatar name={progress.submitter.userName} isProgram={progress.submitter.isProgram} size={22} />
              <bdi className={styles.who}>{progress.submitter.userName}</bdi>
            </>
          )}
          <Time time={activity.createdAt} inRow />
          <span className={styles.rowState}>
            <RowState approval={approval} isGone={isGone} />
          </span>
        </p>
      </div>
    </div>
  );
}

function RowState({
  approval: { activity, progress },
  isGone,
}: {
  readonly approval: Approval;
  readonly isGone: boolean;
}) {
  if (!isOpen(activity.status)) return <ActivityStatus status={activity.status} bare />;
  if (isGone) return <>no longer waits</>;
  if (progress.authentication?.isMine) return <>needs your proof</>;
  if (progress.isLapsed) return <>lapsed</>;
  return progress.lapsesAt === undefined ? null : <TimeLeft until={progress.lapsesAt} />;
}

const ORDER: readonly Risk[] = ['ROUTINE', 'LOOK_CLOSELY', 'DANGER', 'UNREADABLE'];

/** Of several marks the worst is shown in the row. */
function worstMark(description: Description): { readonly risk: Risk; readonly text?: string } | undefined {
  if (description.risk === 'ROUTINE') return undefined;
  const sorted = [...description.marks].sort((one, other) => ORDER.indexOf(other.risk) - ORDER.indexOf(one.risk));
  return sorted.find(({ risk }) => risk === description.risk) ?? { risk: description.risk };
}

/** What screen readers are told besides the sentence: risk and time left. */
export function rowDescription({ activity, progress, description }: Approval, nowMs: number): string {
  const risk = riskWord(description.risk);
  const state = isOpen(activity.status)
    ? progress.isLapsed
      ? 'approvals lapsed'
      : progress.lapsesAt === undefined
        ? ''
        : timeLeft(progress.lapsesAt, nowMs).text
    : activityStatusWord(activity.status);
  return [risk, state].filter(Boolean).join(', ');
}
