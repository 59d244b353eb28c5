import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button, IconButton } from '../../kit/button.tsx';
import { ConsentDialog } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { TextArea, TextField } from '../../kit/field.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Note } from '../../kit/note.tsx';
import { Page } from '../../kit/page.tsx';
import { fieldProblem, OutcomeNote, ProblemNote } from '../../kit/problem-note.tsx';
import { SameWithDialog, SameWithLink } from '../../kit/same-with.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { Tag } from '../../kit/tag.tsx';
import { useAct } from '../../kit/use-act.ts';
import { count } from '../../lib/amounts.ts';
import { useNarrow } from '../../lib/use-media.ts';
import { PolicyDiff } from '../request/policy-diff.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { type Draft, isSame, toCreate, toUpdate } from './draft.ts';
import { ExpressionField } from './editor/expression-field.tsx';
import styles from './policies.module.css';
import { PolicyChanged } from './policy-changed.tsx';
import { PolicySummary } from './policy-summary.tsx';
import { WhatWouldHappen } from './simulation/what-would-happen.tsx';
import { useDescription } from './use-description.ts';

export interface PolicyEditorProps {
  /** Undefined for a policy that begins here. */
  readonly policyId: string | undefined;
  readonly stored: Draft;
}

/** The form of a policy, with what it means beside it and what it would do. */
export function PolicyEditor({ policyId, stored }: PolicyEditorProps) {
  const { value: draft, set, discard, base, meanwhile, rebase } = useDraft(`policy ${policyId ?? 'new'}`, stored);
  const [opened, setOpened] = useState<'diff' | 'delete' | 'same'>();
  const isNarrow = useNarrow();
  const navigate = useNavigate();
  const off = useOffReason();
  const nameField = useRef<HTMLInputElement>(null);
  const isChanged = !isSame(draft, stored);
  const { description, isCurrent, sound, error } = useDescription(draft, policyId);
  const errors = description?.errors.length ?? 0;

  const created = toCreate(draft);
  const updated = toUpdate(policyId ?? '', draft, stored);
  const creates = useAct('createPolicy', { current: created });
  const updates = useAct('updatePolicy', { current: updated });
  const { outcome, isBusy, reset, consent } = policyId === undefined ? creates : updates;
  const change = (edit: Partial<Draft>): void => {
    set(edit);
    if (outcome !== undefined) reset();
  };
  const finish = async (work: ReturnType<typeof creates.submit> | ReturnType<typeof updates.submit>): Promise<void> => {
    const done = await work;
    if (done.state === 'refused') return;
    discard();
    if (done.state === 'completed' && policyId === undefined) {
      await navigate({ to: '/policies/$policyId', params: { policyId: done.result.policyId } });
    }
  };
  const propose = (): void => {
    if (policyId === undefined) void finish(creates.submit(created));
    else void finish(updates.submit(updated));
  };
  const repeat = (): void => void finish(policyId === undefined ? creates.repeat() : updates.repeat());
  const same = {
    method: policyId === undefined ? 'createPolicy' : 'updatePolicy',
    parameters: policyId === undefined ? created : updated,
  };

  const stops =
    off ??
    (errors > 0 && isChanged ? `${count(errors, 'error')} left` : undefined) ??
    (!isChanged ? (outcome === undefined ? 'Nothing is changed.' : 'It is proposed.') : undefined) ??
    (draft.policyName.trim() === '' ? 'Give it a name.' : undefined) ??
    (meanwhile.some((name) => draft[name] !== stored[name]) ? 'Choose between the two changes first.' : undefined) ??
    (isCurrent ? undefined : 'Being read.');
  const discardAll = (): void => {
    discard();
    if (outcome !== undefined) reset();
  };
  const field = (name: 'condition' | 'consensus' | 'time') => ({
    expression: name,
    value: draft[name],
    onChange: (text: string) => change({ [name]: text }),
    description,
    isCurrent,
  });

  return (
    <Page
      fill
      title={policyId === undefined ? 'New policy' : <bdi>{stored.policyName}</bdi>}
      parent={{ label: 'Policies', to: '/policies' }}
      {...(isChanged && !isNarrow && { marks: <Tag kind="soft">edited, not proposed</Tag> })}
      actions={
        <>
          {!isNarrow && isChanged && (
            <Button kind="quiet" onClick={discardAll}>
              Discard
            </Button>
          )}
          {!isNarrow && (
            <Button off={!isChanged && 'Nothing is changed.'} hideReason onClick={() => setOpened('diff')}>
              Diff
            </Button>
          )}
          <Button
            kind="ink"
            busy={isBusy && 'Proposing…'}
            off={stops}
            hideReason={isNarrow || errors === 0 || !isChanged}
            onClick={propose}
          >
            Propose policy
          </Button>
          <Menu
            trigger={<IconButton icon="more" label="More" />}
            items={[
              {
                id: 'diff',
                label: 'Diff',
                icon: 'file',
                off: !isChanged && 'Nothing is changed.',
                onSelect: () => setOpened('diff'),
              },
              {
                id: 'discard',
                label: 'Discard',
                icon: 'cross',
                off: !isChanged && 'Nothing is changed.',
                onSelect: discardAll,
              },
              { id: 'same', label: 'As SDK, CLI, curl', icon: 'code', onSelect: () => setOpened('same') },
              ...(policyId === undefined
                ? []
                : [
                    {
                      id: 'delete',
                      label: 'Delete policy',
                      icon: 'trash' as const,
                      danger: true,
                      separated: true,
                      off,
                      onSelect: () => setOpened('delete'),
                    },
                  ]),
            ]}
          />
        </>
      }
    >
      <div className={styles.split} data-scroll="">
        <div className={styles.main} data-scroll="">
          <OutcomeNote
            outcome={outcome}
            done={policyId === undefined ? 'The policy is in force.' : 'The change is in force.'}
            onRepeat={repeat}
          />
          {base !== undefined && meanwhile.length > 0 && (
            <PolicyChanged base={base} stored={stored} draft={draft} fields={meanwhile} onRebase={rebase} />
          )}
          <PolicySummary
            draft={draft}
            description={description}
            isNew={policyId === undefined}
            isChanged={isChanged}
            error={error}
          />
          <div className={styles.pair}>
            <TextField
              ref={nameField}
              label="Name"
              value={draft.policyName}
              maxLength={255}
              onChange={(policyName) => change({ policyName })}
              error={fieldProblem(outcome, 'policyName')}
            />
            <div className={styles.group}>
              <span className={styles.label}>Effect</span>
              <Segmented
                wide
                label="Effect"
                items={[
                  { id: 'EFFECT_ALLOW', label: 'Allow' },
                  { id: 'EFFECT_DENY', label: 'Deny' },
                ]}
                value={draft.effect}
                onChange={(effect) => change({ effect })}
              />
            </div>
          </div>
          <ExpressionField
            {...field('condition')}
            hasLines
            label="Condition"
            hint="what is requested"
            placeholder="Everything"
          />
          {(description?.warnings ?? []).map(({ code, message }) => (
            <Note key={`${code} ${message}`} tone="wait" title={sentenceOf(message)} />
          ))}
          <div className={styles.pair}>
            <ExpressionField
              {...field('consensus')}
              label="Consensus"
              hint="who must approve"
              placeholder="Whoever asks"
            />
            <ExpressionField {...field('time')} label="Time" hint="when, empty is always" placeholder="Always" />
          </div>
          <TextArea
            label="Notes"
            hint="for people"
            rows={2}
            value={draft.notes}
            onChange={(notes) => change({ notes })}
            error={fieldProblem(outcome, 'policyNotes') ?? fieldProblem(outcome, 'notes')}
          />
          <div>
            <SameWithLink {...same} />
          </div>
        </div>
        <WhatWouldHappen policyId={policyId} sound={sound} hasErrors={errors > 0} />
      </div>
      <ConsentDialog consent={consent} act="Propose policy" off={stops} />
      <Dialog
        open={opened === 'diff'}
        onClose={() => setOpened(undefined)}
        title="What changes"
        width="wide"
        {...(description !== undefined &&
          description.changes.length > 0 && { description: <bdi>{description.changes.join('; ')}</bdi> })}
      >
        <div className={styles.form}>
          {draft.policyName !== stored.policyName && policyId !== undefined && (
            <p>
              Name: <bdi>{stored.policyName}</bdi> becomes{' '}
              <b>
                <bdi>{draft.policyName}</bdi>
              </b>
            </p>
          )}
          <PolicyDiff
            change={{
              direction: description?.direction ?? 'CHANGE',
              after: draft,
              ...(policyId !== undefined && { before: stored }),
            }}
          />
        </div>
      </Dialog>
      <SameWithDialog isOpen={opened === 'same'} onClose={() => setOpened(undefined)} {...same} />
      {opened === 'delete' && policyId !== undefined && (
        <DeleteDialog
          policyId={policyId}
          policy={stored}
          onClose={() => setOpened(undefined)}
          onDone={() => {
            discard();
            void navigate({ to: '/policies' });
          }}
        />
      )}
      {error !== null && description === undefined && <ProblemNote problem={problemOf(error)} />}
    </Page>
  );
}

/** A message of the lint as a sentence. */
const sentenceOf = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?!]$/.test(message) ? '' : '.'}`;
