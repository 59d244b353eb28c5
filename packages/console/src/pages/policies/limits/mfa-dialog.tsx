import { useMemo, useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { ChangedMeanwhile } from '../../../kit/changed-meanwhile.tsx';
import { useDraft } from '../../../kit/drafts.ts';
import { Checkbox, TextArea, TextField } from '../../../kit/field.tsx';
import { LinkButton } from '../../../kit/link-button.tsx';
import { fieldProblem } from '../../../kit/problem-note.tsx';
import { useAct } from '../../../kit/use-act.ts';
import styles from '../policies.module.css';
import { FormDialog } from './form-dialog.tsx';
import { METHOD_TYPES, METHODS, type MfaPolicy, type Steps, stepsInWords, toggled } from './mfa-model.ts';

export interface MfaDialogProps {
  readonly userId: string;
  readonly userName: string;
  /** The one that is changed; without it a new one. */
  readonly policy?: MfaPolicy;
  readonly onClose: () => void;
}

/** What is stored, for somebody who changed it at the same time as another. */
const inWords = (stored: { name: string; condition: string; steps: Steps; order: string }): string =>
  [stored.name, stored.condition || 'all activities', stepsInWords(stored.steps), `order ${stored.order}`].join('; ');

const FIRST: Steps = [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }];

export function MfaDialog({ userId, userName, policy, onClose }: MfaDialogProps) {
  const initial = useMemo(
    () => ({
      name: policy?.mfaPolicyName ?? '',
      condition: policy?.condition ?? '',
      steps: policy?.requiredAuthenticationMethods ?? FIRST,
      order: String(policy?.order ?? 0),
      notes: policy?.notes ?? '',
    }),
    [policy],
  );
  const { value, set, discard, meanwhile, rebase } = useDraft(`mfa ${userId} ${policy?.mfaPolicyId ?? 'new'}`, initial);
  const [isTried, setIsTried] = useState(false);
  const fields = {
    userId,
    mfaPolicyName: value.name.trim(),
    condition: value.condition.trim(),
    requiredAuthenticationMethods: value.steps,
    order: Number(value.order),
    ...((value.notes.trim() !== '' || policy?.notes) && { notes: value.notes.trim() }),
  };
  const update = { ...fields, mfaPolicyId: policy?.mfaPolicyId ?? '' };
  const creates = useAct('createMfaPolicy', { current: fields });
  const updates = useAct('updateMfaPolicy', { current: update });
  const { outcome, isBusy, consent } = policy === undefined ? creates : updates;
  const nameError = value.name.trim() === '' ? 'Give the policy a name.' : undefined;
  const orderError = /^\d{1,6}$/.test(value.order.trim()) ? undefined : 'Type a whole number.';
  const stepsError = value.steps.some(({ any }) => any.length === 0) ? 'Each step needs a method.' : undefined;
  const finish = async (work: ReturnType<typeof creates.submit> | ReturnType<typeof updates.submit>): Promise<void> => {
    const { state } = await work;
    if (state === 'refused') return;
    discard();
    if (state === 'completed') onClose();
  };
  return (
    <FormDialog
      title={
        policy === undefined ? (
          <>
            New MFA policy for <bdi>{userName}</bdi>
          </>
        ) : (
          <>
            Change <bdi>{policy.mfaPolicyName}</bdi>
          </>
        )
      }
      description="The user gives these proofs, in order, before an approval of theirs counts. A step that nobody can meet blocks the user wherever the condition holds."
      act={policy === undefined ? 'Create MFA policy' : 'Change MFA policy'}
      busy={policy === undefined ? 'Creating…' : 'Changing…'}
      method={policy === undefined ? 'createMfaPolicy' : 'updateMfaPolicy'}
      parameters={policy === undefined ? fields : update}
      outcome={outcome}
      consent={consent}
      isBusy={isBusy}
      off={meanwhile.length > 0 && 'Choose between the two changes first.'}
      onSubmit={() => {
        setIsTried(true);
        if (nameError ?? orderError ?? stepsError) return;
        void finish(policy === undefined ? creates.submit(fields) : updates.submit(update));
      }}
      onRepeat={() => void finish(policy === undefined ? creates.repeat() : updates.repeat())}
      onClose={onClose}
    >
      {meanwhile.length > 0 && <ChangedMeanwhile what="policy" now={inWords(initial)} onRebase={rebase} />}
      <TextField
        label="Name"
        value={value.name}
        maxLength={255}
        onChange={(name) => set({ name })}
        error={(isTried ? nameError : undefined) ?? fieldProblem(outcome, 'mfaPolicyName')}
      />
      <TextArea
        label="Condition"
        hint="which activities; empty is all"
        mono
        rows={2}
        value={value.condition}
        onChange={(condition) => set({ condition })}
        error={fieldProblem(outcome, 'condition')}
        placeholder="activity.action == 'EXPORT'"
      />
      {value.steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are known by their place
        <fieldset key={index} className={styles.step}>
          <legend>Step {index + 1}, any of</legend>
          <div className={styles.methods}>
            {METHOD_TYPES.map((type) => (
              <Checkbox
                key={type}
                label={METHODS[type]}
                checked={step.any.some((method) => method.type === type)}
                onChange={(isOn) => set({ steps: toggled(value.steps, index, type, isOn) })}
              />
            ))}
          </div>
          {value.steps.length > 1 && (
            <div>
              <LinkButton onClick={() => set({ steps: value.steps.filter((_step, at) => at !== index) })}>
                Remove step {index + 1}
              </LinkButton>
            </div>
          )}
        </fieldset>
      ))}
      {isTried && stepsError && (
        <p role="alert" style={{ color: 'var(--deny)' }}>
          {stepsError}
        </p>
      )}
      <div>
        <Button size="small" icon="plus" onClick={() => set({ steps: [...value.steps, { any: [] }] })}>
          Add a step
        </Button>
      </div>
      <TextField
        label="Order"
        hint="the lowest counts"
        inputMode="numeric"
        value={value.order}
        onChange={(order) => set({ order })}
        error={orderError ?? fieldProblem(outcome, 'order')}
      />
      <TextArea label="Notes" hint="for people" rows={2} value={value.notes} onChange={(notes) => set({ notes })} />
    </FormDialog>
  );
}
