import { useRef, useState } from 'react';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { TextField } from '../../kit/field.tsx';
import { fieldProblem, OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { useAct } from '../../kit/use-act.ts';
import styles from './wallets.module.css';

export interface RenameDialogProps {
  readonly walletId: string;
  readonly walletName: string;
  readonly onClose: () => void;
}

export function RenameDialog({ walletId, walletName, onClose }: RenameDialogProps) {
  const [name, setName] = useState(walletName);
  const off = useOffReason();
  const field = useRef<HTMLInputElement>(null);
  const parameters = { walletId, walletName: name.trim() };
  const { submit, repeat, outcome, isBusy, consent } = useAct('updateWallet', { current: parameters });
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'completed') onClose();
  };
  const isSame = parameters.walletName === walletName;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rename the wallet"
      description="Policies name wallets by id, so none changes its meaning."
      width="small"
      initialFocus={field}
      footer={
        <DialogFooter>
          <SameWithLink method="updateWallet" parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button
              kind="ink"
              busy={isBusy && 'Renaming…'}
              off={off ?? (((isSame || parameters.walletName === '') && 'Type another name.') || consent.off)}
              onClick={() => void finish(submit(parameters))}
            >
              Rename
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <TextField
          ref={field}
          label="Name"
          value={name}
          onChange={setName}
          maxLength={255}
          error={fieldProblem(outcome, 'walletName')}
        />
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}
