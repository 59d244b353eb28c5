import { useSimulation } from '../../api/simulation.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { Note } from '../../kit/note.tsx';
import { PolicyPreview } from '../../kit/policy-preview.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { useAct } from '../../kit/use-act.ts';
import type { Draft } from './draft.ts';
import styles from './policies.module.css';

export interface DeleteDialogProps {
  readonly policyId: string;
  readonly policy: Draft;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Deletes a policy, after its consequence is read. */
export function DeleteDialog({ policyId, policy, onClose, onDone }: DeleteDialogProps) {
  const off = useOffReason();
  const parameters = { policyId };
  const { submit, repeat, outcome, isBusy, consent } = useAct('deletePolicy', { current: parameters, isEager: true });
  const forecast = useSimulation({ type: 'ACTIVITY_TYPE_DELETE_POLICY', parameters });
  const isDenial = policy.effect === 'EFFECT_DENY';
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'completed') onDone();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={
        <>
          Delete <bdi>{policy.policyName}</bdi>
        </>
      }
      footer={
        <DialogFooter>
          <SameWithLink method="deletePolicy" parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button
              kind="danger"
              icon="trash"
              busy={isBusy && 'Deleting…'}
              off={off ?? consent.off}
              onClick={() => void finish(submit(parameters))}
            >
              Delete policy
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        {isDenial ? (
          <Note tone="deny" title="It denies.">
            What it stopped is allowed wherever another policy allows it.
          </Note>
        ) : (
          <Note tone="wait" title="It allows.">
            What it alone allowed is denied from then on, except to the root quorum.
          </Note>
        )}
        <PolicyPreview forecast={forecast} hint="" />
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}
