import { useState } from 'react';
import { useWishDescription } from '../../api/describe.ts';
import { useSimulation } from '../../api/simulation.ts';
import { useSubmit } from '../../api/use-submit.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox } from '../../kit/field.tsx';
import { Note } from '../../kit/note.tsx';
import { PolicyPreview } from '../../kit/policy-preview.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Sentence } from '../../kit/sentence.tsx';
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
  const [isTicked, setIsTicked] = useState(false);
  const { submit, repeat, outcome, isBusy } = useSubmit('deletePolicy');
  const off = useOffReason();
  const parameters = { policyId };
  const [wish] = useState({ type: 'ACTIVITY_TYPE_DELETE_POLICY', parameters });
  const forecast = useSimulation(wish);
  const description = useWishDescription(wish);
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
      {...(description && { description: <Sentence size="inherit" parts={description.sentence} /> })}
      footer={
        <div className={styles.footer}>
          <SameWithLink method="deletePolicy" parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button
              kind="danger"
              icon="trash"
              busy={isBusy && 'Deleting…'}
              off={off ?? (!isTicked && 'Tick the sentence first.')}
              onClick={() => void finish(submit(parameters))}
            >
              Delete policy
            </Button>
          )}
        </div>
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
        <Checkbox
          label={
            description?.consequence ??
            (isDenial ? 'What it stopped may be allowed. I want that.' : 'What it allowed is denied. I want that.')
          }
          checked={isTicked}
          onChange={setIsTicked}
        />
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}
