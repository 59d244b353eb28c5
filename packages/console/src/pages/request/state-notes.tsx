import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import type { Approval, Progress } from '../../api/approvals.ts';
import type { Problem } from '../../api/problem.ts';
import { useNow } from '../../app/now.ts';
import { Button } from '../../kit/button.tsx';
import { Note, type NoteTone } from '../../kit/note.tsx';
import { listInWords } from '../../lib/text.ts';
import { clock, relative } from '../../lib/time.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import type { Decision, Done } from './use-decision.ts';
import { isOpen, isSigning, missingWords } from './words.ts';

export interface StateNotesProps {
  readonly approval: Approval;
  readonly decision: Decision;
}

/** What happened while somebody read, and what became of a vote. One at a time: the latest counts. */
export function StateNotes({ approval, decision }: StateNotesProps) {
  const wasOpen = useRef(isOpen(approval.activity.status));
  const { done } = decision;
  const isOpenNow = isOpen(approval.activity.status);
  if (done !== undefined) {
    return (
      <KeepsFocus
        moments={[done.outcome, approval.activity.status, approval.progress.authentication?.isMine, decision.isMine]}
      >
        <DoneNote approval={approval} done={done} decision={decision} />
      </KeepsFocus>
    );
  }
  if (wasOpen.current && !isOpenNow) return <DecidedMeanwhile approval={approval} />;
  if (isOpenNow && approval.progress.isLapsed) return <LapsedNote progress={approval.progress} />;
  return null;
}

/** With a vote its button goes, and the focus with it: whoever pressed it goes on reading here. */
function KeepsFocus({ moments, children }: { readonly moments: readonly unknown[]; readonly children: ReactNode }) {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body) note.current?.focus();
  }, [...moments]);
  return (
    <div ref={note} tabIndex={-1}>
      {children}
    </div>
  );
}

function LapsedNote({ progress }: { readonly progress: Progress }) {
  const { userId } = useSessionOrThrow();
  // Whoever asked approved by asking, and that lapsed too.
  const approved = [...(progress.submitter === undefined ? [] : [progress.submitter]), ...progress.votes];
  const others = [...new Set(approved.filter((vote) => vote.userId !== userId).map(({ userName }) => userName))];
  return (
    <Note tone="wait" icon="clock" role="status" title="The approvals lapsed.">
      The request is still open. If you approve now, yours is the first of a new round
      {others.length > 0 && (
        <>
          , and <bdi>{listInWords(others)}</bdi> must approve again
        </>
      )}
      .
    </Note>
  );
}

function DecidedMeanwhile({ approval: { activity, progress } }: { readonly approval: Approval }) {
  const now = useNow();
  const decidedAt = progress.decidedAt ?? activity.updatedAt;
  const when = relative(decidedAt, Math.max(now, Date.parse(decidedAt)));
  const rejecter = progress.votes.findLast(({ selection }) => selection === 'REJECTED');
  const approver = progress.votes.findLast(({ selection }) => selection === 'APPROVED');
  switch (activity.status) {
    case 'ACTIVITY_STATUS_REJECTED':
      return rejecter === undefined ? (
        <Note tone="deny" icon="cross-circle" role="status" title={`This was denied ${when}.`}>
          Nothing was signed. <SeeWhy activityId={activity.id} />
        </Note>
      ) : (
        <Note
          tone="deny"
          icon="cross-circle"
          role="status"
          title={
            <>
              <bdi>{rejecter.userName}</bdi> rejected this {when}.
            </>
          }
        >
          {isSigning(activity.type) ? 'Nothing was signed.' : 'Nothing was done.'} One rejection is final.
        </Note>
      );
    case 'ACTIVITY_STATUS_FAILED':
      return (
        <Note tone="deny" role="status" title={`This was approved and failed ${when}.`}>
          <bdi>{activity.failure?.message ?? ''}</bdi> <SeeWhy activityId={activity.id} />
        </Note>
      );
    default:
      return (
        <Note
          tone="allow"
          role="status"
          title={
            <>
              <bdi>{approver?.userName ?? 'Somebody'}</bdi> completed this {when}.
            </>
          }
        >
          {isSigning(activity.type) ? 'It was signed.' : 'It was done.'} <SeeWhy activityId={activity.id} />
        </Note>
      );
  }
}

const SeeWhy = ({ activityId }: { readonly activityId: string }) => (
  <Link to="/activities/$activityId" params={{ activityId }}>
    See the activity
  </Link>
);

interface DoneNoteProps extends StateNotesProps {
  readonly done: Done;
}

function DoneNote({ approval, done: { verb, outcome }, decision }: DoneNoteProps) {
  const { activity: before, progress } = approval;
  if (outcome.state === 'refused') {
    return (
      <RefusedNote
        problem={outcome.problem}
        progress={progress}
        isRepeatable={outcome.repeatable}
        onRepeat={decision.repeat}
      />
    );
  }
  const { activity } = outcome;
  const link = <SeeWhy activityId={before.id} />;
  if (verb === 'Reject') {
    return (
      <Note tone="info" icon="cross-circle" role="status" title="You rejected this request.">
        Nothing was {isSigning(before.type) ? 'signed' : 'done'}. {link}
      </Note>
    );
  }
  switch (activity.status) {
    case 'ACTIVITY_STATUS_COMPLETED':
      return (
        <Note
          tone="allow"
          role="status"
          title={isSigning(before.type) ? 'You approved, and it is signed.' : 'You approved, and it is done.'}
        >
          {link}
        </Note>
      );
    case 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED':
      return (
        <Note tone="info" icon="passkey" role="status" title="A further proof is needed.">
          Your approval counts once it is given. {progress.authentication?.text}
        </Note>
      );
    case 'ACTIVITY_STATUS_REJECTED':
      return (
        <Note tone="deny" icon="cross-circle" role="alert" title="A policy denied it at your vote.">
          Nothing was {isSigning(before.type) ? 'signed' : 'done'}. {link}
        </Note>
      );
    case 'ACTIVITY_STATUS_FAILED':
      return (
        <Note tone="deny" role="alert" title="You approved, and it failed.">
          <bdi>{activity.failure?.message ?? ''}</bdi> {link}
        </Note>
      );
    case 'ACTIVITY_STATUS_CONSENSUS_NEEDED':
      return (
        <Note tone="allow" role="status" title="You approved.">
          {missingWords(progress).join('; ')}. {link}
        </Note>
      );
    default:
      return (
        <Note tone="wait" icon="clock" role="status" title="You approved, and it runs.">
          {link}
        </Note>
      );
  }
}

const TONES: Readonly<Partial<Record<Problem['kind'], NoteTone>>> = {
  denied: 'deny',
  invalid: 'deny',
  bug: 'deny',
};

interface RefusedNoteProps {
  readonly problem: Problem;
  readonly progress: Progress;
  readonly isRepeatable: boolean;
  readonly onRepeat: () => void;
}

function RefusedNote({ problem, progress, isRepeatable, onRepeat }: RefusedNoteProps) {
  const { kind, retryAtMs } = problem;
  return (
    <Note
      tone={TONES[kind] ?? 'wait'}
      role="alert"
      title={titleOf(problem)}
      {...(isRepeatable && {
        actions: (
          <Button size="small" onClick={onRepeat}>
            Send the same vote again
          </Button>
        ),
      })}
    >
      {textOf(problem, progress)}
      {retryAtMs !== undefined && ` Try again at ${clock(retryAtMs)}.`}
    </Note>
  );
}

function titleOf({ kind, title }: Problem): string {
  if (kind === 'denied') return 'Your vote does not count here.';
  if (kind === 'conflict') return 'Somebody decided this first.';
  return title;
}

function textOf(problem: Problem, progress: Progress): ReactNode {
  switch (problem.kind) {
    case 'denied':
      return `${problem.text} ${missingWords(progress).join('; ')}`;
    case 'session':
      return 'Nothing was sent twice: sign in again and decide then.';
    case 'offline':
    case 'unavailable':
      return 'Your vote may or may not have arrived. Sending it again is safe: the same bytes count once.';
    default:
      return problem.text;
  }
}
