import type { Approval } from '../../api/approvals.ts';
import type { Description } from '../../api/types.ts';
import { Button, IconButton } from '../../kit/button.tsx';
import { Menu } from '../../kit/menu.tsx';
import { TimeLeft } from '../../kit/time.tsx';
import styles from './decision-bar.module.css';
import { Factors } from './factors.tsx';
import type { Decision } from './use-decision.ts';
import { effectOfApproval, isOpen } from './words.ts';

export interface DecisionBarProps {
  readonly approval: Approval;
  readonly description: Description;
  readonly decision: Decision;
  /** Where there is another one that waits. */
  readonly onNext?: (() => void) | undefined;
}

/** Always visible: how long there is, what an approval does, and both ways out. */
export function DecisionBar({ approval, decision, onNext }: DecisionBarProps) {
  const { activity, progress } = approval;
  const isDecided = !isOpen(activity.status);
  if (isDecided || !decision.isMine || isOver(decision)) {
    return (
      <div className={styles.bar}>
        <p className={styles.words}>{isDecided ? 'Nothing is left to decide.' : waitsWords(approval)}</p>
        {onNext !== undefined && <Button onClick={onNext}>Next request</Button>}
      </div>
    );
  }
  const needsProof = progress.authentication?.isMine === true;
  return (
    <div className={styles.bar}>
      <div className={styles.words}>
        {progress.lapsesAt !== undefined && (
          <p className={styles.left}>
            <TimeLeft until={progress.lapsesAt} strong />
          </p>
        )}
        <p className={styles.effect}>
          {decision.approveOff ??
            (needsProof ? progress.authentication?.text : effectOfApproval(progress, activity.type))}
        </p>
      </div>
      <div className={styles.acts}>
        {activity.canReject && (
          <Button
            size="large"
            busy={decision.busy === 'Reject' && 'Rejecting…'}
            off={decision.offReason ?? (decision.busy === 'Approve' && 'Your approval is on its way.')}
            hideReason
            onClick={() => decision.choose('Reject')}
          >
            Reject
          </Button>
        )}
        {needsProof ? (
          <Factors approval={approval} decision={decision} />
        ) : (
          progress.waitsForMe && (
            <span className={styles.approve}>
              <Button
                kind="ink"
                size="large"
                icon="check"
                busy={decision.busy === 'Approve' && 'Approving…'}
                off={decision.approveOff ?? (decision.busy === 'Reject' && 'Your rejection is on its way.')}
                hideReason
                onClick={() => decision.choose('Approve')}
              >
                Approve
              </Button>
              <Menu
                trigger={<IconButton icon="chevron-up" label="Other ways to approve" className={styles.more} />}
                items={[
                  {
                    id: 'passkey',
                    icon: 'passkey',
                    label: 'Approve with a passkey',
                    detail: 'The passkey signs the approval itself, not the session.',
                    off: decision.passkeyOff ?? decision.approveOff,
                    onSelect: () => decision.choose('Approve', true),
                  },
                ]}
              />
            </span>
          )
        )}
      </div>
    </div>
  );
}

/** The vote was taken and leads nowhere else for this person. */
const isOver = ({ done }: Decision): boolean =>
  done?.outcome.state === 'completed' && done.outcome.activity.status !== 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';

function waitsWords({ progress }: Approval): string {
  if (progress.myVote === 'APPROVED') return 'You approved. Others are asked.';
  if (progress.authentication !== undefined) return `${progress.authentication.text}.`;
  return 'Your approval is not asked for.';
}
