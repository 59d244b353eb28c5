import type { ReactNode } from 'react';
import type { Outcome } from '../../../api/use-submit.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Button } from '../../../kit/button.tsx';
import { ConsentBox } from '../../../kit/consent.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { DialogFooter } from '../../../kit/dialog-footer.tsx';
import { OutcomeNote } from '../../../kit/problem-note.tsx';
import { SameWithLink } from '../../../kit/same-with.tsx';
import type { Consent } from '../../../kit/use-act.ts';
import styles from '../policies.module.css';

export interface FormDialogProps {
  readonly title: ReactNode;
  readonly description: ReactNode;
  readonly act: string;
  readonly busy: string;
  readonly method: string;
  readonly parameters: object;
  readonly outcome: Outcome<unknown> | undefined;
  readonly consent: Consent;
  /** Why it cannot be sent yet. */
  readonly off?: string | false;
  readonly isBusy: boolean;
  readonly onSubmit: () => void;
  readonly onRepeat: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form that proposes a rule: its fields, what became of it, and the same in a program. */
export function FormDialog(props: FormDialogProps) {
  const { title, description, act, busy, method, parameters, outcome, consent, isBusy, onSubmit, onRepeat, onClose } =
    props;
  const readOnly = useOffReason();
  const off = readOnly ?? (props.off || undefined);
  const isOver = outcome?.state === 'waits';
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      footer={
        <DialogFooter>
          <SameWithLink method={method} parameters={parameters} />
          <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button kind="ink" busy={isBusy && busy} off={off ?? consent.off} onClick={onSubmit}>
              {act}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!off && !isBusy && !isOver) onSubmit();
        }}
      >
        {props.children}
        {!isOver && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} onRepeat={onRepeat} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
