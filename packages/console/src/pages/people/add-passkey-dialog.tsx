import { createPasskey } from '@custos/sdk';
import { useRef, useState } from 'react';
import { type Problem, problemOf } from '../../api/problem.ts';
import { useSubmit } from '../../api/use-submit.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { TextField } from '../../kit/field.tsx';
import { OutcomeNote, ProblemNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { unmadePasskey, whyNoPasskeys } from '../../session/passkeys.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import styles from './people.module.css';

/** A passkey for oneself: only who holds the device can make one, and its touch is the consent. */
export function AddPasskeyDialog({ onClose }: { readonly onClose: () => void }) {
  const session = useSessionOrThrow();
  const [name, setName] = useState('This device');
  const [problem, setProblem] = useState<Problem>();
  const [isTouching, setIsTouching] = useState(false);
  const { submit, repeat, outcome, isBusy } = useSubmit('createAuthenticators');
  const off = useOffReason();
  const field = useRef<HTMLInputElement>(null);
  const isOver = outcome !== undefined && outcome.state !== 'refused';
  const add = async (): Promise<void> => {
    setProblem(undefined);
    setIsTouching(true);
    try {
      const authenticator = await createPasskey({
        rp: { id: location.hostname, name: session.organizationName },
        user: { name: session.userName, displayName: session.userName },
        authenticatorName: name.trim(),
      });
      await submit({ userId: session.userId, authenticators: [authenticator] });
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setIsTouching(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add a passkey"
      description="For you, on this device, on a phone or on a security key. With two of them you can lose one."
      width="small"
      initialFocus={field}
      footer={
        <DialogFooter>
          <SameWithLink method="createAuthenticators" parameters={unmadePasskey(session.userId, name.trim())} />
          <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button
              kind="ink"
              icon="passkey"
              busy={(isTouching || isBusy) && 'Adding…'}
              off={off ?? whyNoPasskeys()?.reason ?? (name.trim() === '' && 'Give it a name.')}
              onClick={() => void add()}
            >
              Add passkey
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <TextField ref={field} label="Name" value={name} onChange={setName} maxLength={255} />
        {problem && <ProblemNote problem={problem} />}
        <OutcomeNote outcome={outcome} done="The passkey was added." onRepeat={() => void repeat()} />
      </div>
    </Dialog>
  );
}
