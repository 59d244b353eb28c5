import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Note } from '../../kit/note.tsx';
import { listInWords } from '../../lib/text.ts';
import { PolicyDiff } from '../request/policy-diff.tsx';
import type { Draft } from './draft.ts';
import styles from './policies.module.css';

export interface PolicyChangedProps {
  /** The policy as it was when this draft began, and as it is stored now. */
  readonly base: Draft;
  readonly stored: Draft;
  /** The draft on top of what is stored. */
  readonly draft: Draft;
  readonly fields: readonly (keyof Draft)[];
  readonly onRebase: (keep: 'mine' | 'theirs') => void;
}

const NAMES: Readonly<Record<keyof Draft, string>> = {
  policyName: 'name',
  effect: 'effect',
  condition: 'condition',
  consensus: 'consensus',
  time: 'time',
  notes: 'notes',
};

/** Somebody else changed the policy under a draft: both changes are shown, and the person chooses. */
export function PolicyChanged({ base, stored, draft, fields, onRebase }: PolicyChangedProps) {
  const [isOpen, setIsOpen] = useState(false);
  const both = fields.filter((field) => draft[field] !== stored[field]);
  const names = listInWords(fields.map((field) => NAMES[field]));
  const choose = (keep: 'mine' | 'theirs') => (): void => {
    setIsOpen(false);
    onRebase(keep);
  };
  const choice =
    both.length === 0 ? (
      <Button size="small" onClick={choose('mine')}>
        Go on with both changes
      </Button>
    ) : (
      <>
        <Button size="small" onClick={choose('mine')}>
          Keep mine
        </Button>
        <Button size="small" onClick={choose('theirs')}>
          Take theirs
        </Button>
      </>
    );
  return (
    <>
      <Note
        tone="wait"
        role="alert"
        title="Somebody changed this policy after you began."
        actions={
          <>
            <Button size="small" onClick={() => setIsOpen(true)}>
              Show the difference
            </Button>
            {choice}
          </>
        }
      >
        {both.length === 0
          ? `They changed its ${names}, which you left alone. Your draft stands on top of it.`
          : `They changed its ${names}; of that, you changed the ${listInWords(both.map((field) => NAMES[field]))} too. Nothing is proposed until you choose.`}
      </Note>
      <Dialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title="Two changes of one policy"
        width="wide"
        footer={choice}
      >
        <div className={styles.form}>
          <h3>What they changed</h3>
          <Words before={base} after={stored} />
          <PolicyDiff change={differing(base, stored)} />
          <h3>What your draft makes of it</h3>
          <Words before={stored} after={draft} />
          <PolicyDiff change={differing(stored, draft)} />
        </div>
      </Dialog>
    </>
  );
}

/** Without the expressions that both have alike. */
function differing(before: Draft, after: Draft) {
  const same = (['condition', 'consensus', 'time'] as const).filter((field) => before[field] === after[field]);
  const empty = Object.fromEntries(same.map((field) => [field, '']));
  return { direction: 'CHANGE' as const, before: { ...before, ...empty }, after: { ...after, ...empty } };
}

/** Name and notes, which are no expressions. */
function Words({ before, after }: { readonly before: Draft; readonly after: Draft }) {
  return (['policyName', 'notes'] as const)
    .filter((field) => before[field] !== after[field])
    .map((field) => (
      <p key={field} className={styles.words}>
        {field === 'notes' ? 'Notes' : 'Name'}: <bdi>{before[field] || 'none'}</bdi> becomes{' '}
        <b>
          <bdi>{after[field] || 'none'}</bdi>
        </b>
      </p>
    ));
}
