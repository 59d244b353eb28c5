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
import styles from './wallets.module.css';

export interface DeleteDialogProps {
  readonly subject: {
    readonly kind: 'wallet' | 'key';
    readonly id: string;
    readonly name: string;
    readonly isExported: boolean;
  };
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const KINDS = {
  wallet: { method: 'deleteWallets', type: 'ACTIVITY_TYPE_DELETE_WALLETS', word: 'wallet' },
  key: { method: 'deletePrivateKeys', type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS', word: 'key' },
} as const;

/** Deletes for ever. What was never exported is lost with it, which takes a sentence more. */
export function DeleteDialog({ subject, onClose, onDone }: DeleteDialogProps) {
  const { method, type, word } = KINDS[subject.kind];
  const off = useOffReason();
  const ids = subject.kind === 'wallet' ? { walletIds: [subject.id] } : { privateKeyIds: [subject.id] };
  const parameters = { ...ids, ...(!subject.isExported && { deleteWithoutExport: true }) };
  const { submit, repeat, outcome, isBusy, consent } = useAct(method, { current: parameters, isEager: true });
  const forecast = useSimulation({ type, parameters });
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'completed') onDone();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={
        <>
          Delete <bdi>{subject.name}</bdi>
        </>
      }
      description={`The ${word} goes for ever: its secrets are erased from the keyring, and no backup of the database brings them back without its keys.`}
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
              Delete {word}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        {subject.isExported ? (
          <Note tone="wait" title="It was exported.">
            A copy may be outside. Whether somebody still has it is not known here.
          </Note>
        ) : (
          <Note tone="deny" title="It was never exported.">
            The rule: what was never exported is deleted only if the request says so. No copy exists outside this
            service, so whatever it holds is lost. Export it first if you may need it.
          </Note>
        )}
        <PolicyPreview forecast={forecast} hint="" />
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}
