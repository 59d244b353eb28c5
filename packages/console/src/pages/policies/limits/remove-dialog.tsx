import type { ReactNode } from 'react';
import type { SubmitMethod } from '../../../api/use-submit.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Button } from '../../../kit/button.tsx';
import { ConsentBox } from '../../../kit/consent.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { DialogFooter } from '../../../kit/dialog-footer.tsx';
import { OutcomeNote } from '../../../kit/problem-note.tsx';
import { SameWithLink } from '../../../kit/same-with.tsx';
import { useAct } from '../../../kit/use-act.ts';
import styles from '../policies.module.css';

export interface RemoveDialogProps {
  readonly method: Extract<SubmitMethod, 'deleteVelocityControl' | 'deleteMfaPolicy' | 'removeIpAllowlist'>;
  readonly parameters: object;
  readonly title: ReactNode;
  /** What follows from it. */
  readonly consequence: ReactNode;
  /** The name of the button that acts. */
  readonly act: string;
  readonly onClose: () => void;
}

/** Takes a rule away, after its consequence is read. */
export function RemoveDialog({ method, parameters, title, consequence, act, onClose }: RemoveDialogProps) {
  const { submit, repeat, outcome, isBusy, consent } = useAct(method, { current: parameters, isEager: true });
  const off = useOffReason();
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'completed') onClose();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={consequence}
      footer={
        <DialogFooter>
          <SameWithLink method={method} parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button
              kind="danger"
              icon="trash"
              busy={isBusy && 'Deleting…'}
              off={off ?? consent.off}
              onClick={() => void finish(submit(parameters as never))}
            >
              {act}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}
