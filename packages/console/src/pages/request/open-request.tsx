import type { ReactNode } from 'react';
import { useMemo, useState } from 'react';
import { type Approval, useApproval, useVoteChecks } from '../../api/approvals.ts';
import { exactPieces } from '../../api/exact-bytes.ts';
import { problemOf } from '../../api/problem.ts';
import type { Description } from '../../api/types.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { announce } from '../../app/announcer.tsx';
import { useKeys } from '../../app/keys.ts';
import { Button } from '../../kit/button.tsx';
import { Note } from '../../kit/note.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { DecisionBar } from './decision-bar.tsx';
import type { Layer } from './layers.tsx';
import { withRequestCheck } from './reading.ts';
import { RequestSheet } from './request-sheet.tsx';
import { type Decision, useDecision } from './use-decision.ts';

export interface OpenRequestProps {
  readonly activityId: string;
  readonly onNext?: (() => void) | undefined;
  /** Places what scrolls and what stays at the bottom. */
  readonly children: (sheet: ReactNode, bar: ReactNode) => ReactNode;
}

/** A request with its decision. Give it the id as key: nothing of one request may be left in another. */
export function OpenRequest({ activityId, onNext, children }: OpenRequestProps) {
  const approval = useApproval(activityId);
  if (approval.data === undefined) {
    if (!approval.isError) return children(<Skeleton shape="text" rows={8} label="Loading the request" />, undefined);
    const { title, text } = problemOf(approval.error);
    return children(
      <Note
        tone="wait"
        role="alert"
        title={title}
        actions={
          <Button size="small" onClick={() => void approval.refetch()}>
            Try again
          </Button>
        }
      >
        {text}
      </Note>,
      undefined,
    );
  }
  return (
    <LoadedRequest approval={approval.data.approval} onNext={onNext}>
      {children}
    </LoadedRequest>
  );
}

interface LoadedRequestProps extends Omit<OpenRequestProps, 'activityId'> {
  readonly approval: Approval;
}

function LoadedRequest({ approval, onNext, children }: LoadedRequestProps) {
  const { activity, progress, description: told } = approval;
  const checks = useVoteChecks(activity, progress.votes.length);
  const description = useMemo(() => withRequestCheck(told, checks.data), [told, checks.data]);
  const decision = useDecision(approval, description, checks);
  const [layer, setLayer] = useState<Layer>();
  const openLayer = (next: Layer | undefined): void => {
    setLayer(next);
    if (next === 'bytes') decision.seeBytes();
  };
  useDecisionKeys(approval, description, decision, openLayer);
  return (
    <>
      {children(
        <RequestSheet
          approval={approval}
          description={description}
          checks={checks.data}
          decision={decision}
          layer={layer}
          onLayer={openLayer}
        />,
        // Without its signatures checked there is nothing to press yet.
        checks.isPending ? undefined : (
          <DecisionBar approval={approval} description={description} decision={decision} onNext={onNext} />
        ),
      )}
      <Confirmation description={description} checks={checks.data} decision={decision} />
    </>
  );
}

export interface ConfirmationProps {
  readonly description: Description;
  readonly checks: VoteFindings | undefined;
  readonly decision: Decision;
}

export function Confirmation({ description, checks, decision }: ConfirmationProps) {
  const { confirmation } = decision;
  if (confirmation === undefined || !decision.isMine) return null;
  return (
    <ConfirmDialog
      verb={confirmation.verb}
      byPasskey={confirmation.byPasskey}
      description={description}
      reading={decision.reading}
      pieces={exactPieces(description, checks?.request.body)}
      hasSeenBytes={decision.hasSeenBytes}
      onSeeBytes={decision.seeBytes}
      off={confirmation.verb === 'Approve' ? decision.approveOff : decision.offReason}
      onAct={() => decision.act(confirmation)}
      onClose={decision.cancel}
    />
  );
}

/** A and R only open the confirmation, with focus on its text; nothing is decided by a single key. */
export function useDecisionKeys(
  { activity, progress }: Approval,
  description: Description,
  decision: Decision,
  openLayer: (layer: Layer) => void,
): void {
  const canApprove = decision.isMine && progress.waitsForMe && progress.authentication?.isMine !== true;
  useKeys({
    a: () => {
      if (canApprove) decision.ask('Approve');
    },
    r: () => {
      if (decision.isMine && activity.canReject) decision.ask('Reject');
    },
    b: () => openLayer('bytes'),
    f: () => openLayer('fields'),
    c: () => {
      const address = description.recipients[0]?.address ?? description.sender?.address;
      if (address === undefined) return;
      navigator.clipboard.writeText(address).then(
        () => announce('The address was copied.'),
        () => announce('The browser did not allow copying.'),
      );
    },
  });
}
