import type { GetSessionProfilesResponse } from '@custos/sdk';
import { useState } from 'react';
import { useApi } from '../../../api/use-api.ts';
import { useOffReason } from '../../../app/off-reason.ts';
import { Asked } from '../../../kit/asked.tsx';
import { Button } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { useDraft } from '../../../kit/drafts.ts';
import { Empty } from '../../../kit/empty.tsx';
import { TextArea, TextField } from '../../../kit/field.tsx';
import { Hash } from '../../../kit/hash.tsx';
import { fieldProblem } from '../../../kit/problem-note.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { useAct } from '../../../kit/use-act.ts';
import { duration } from '../../../lib/time.ts';
import styles from '../policies.module.css';
import { FormDialog } from './form-dialog.tsx';

type Profile = GetSessionProfilesResponse['sessionProfiles'][number];

const COLUMNS: readonly Column<Profile>[] = [
  {
    id: 'name',
    header: 'Profile',
    cell: ({ sessionProfileName, scope, notes }) => (
      <>
        <bdi className={styles.name}>{sessionProfileName}</bdi>
        <code className={`${styles.text} ${styles.code}`}>{scope === '' ? 'everything' : scope}</code>
        {notes && <bdi className={styles.text}>{notes}</bdi>}
      </>
    ),
  },
  {
    id: 'lasts',
    header: 'Lasts',
    width: '120px',
    cell: ({ expirationSeconds }) =>
      expirationSeconds === undefined ? 'as asked' : duration(Number(expirationSeconds) * 1000),
  },
  {
    id: 'id',
    header: 'Id',
    width: '180px',
    cell: ({ sessionProfileId }) => <Hash value={sessionProfileId} what="id" />,
  },
  {
    id: 'created',
    header: 'Created',
    width: '110px',
    align: 'right',
    cell: ({ createdAt }) => <Time inRow time={createdAt} />,
  },
];

/** What sessions can be limited to. Profiles never change and stay. */
export function SessionProfiles() {
  const query = useApi('getSessionProfiles');
  const [isCreating, setIsCreating] = useState(false);
  const off = useOffReason();
  return (
    <Card
      flush
      title="Session profiles"
      detail="a login with one can do less than its user"
      actions={
        <Button icon="plus" off={off} hideReason onClick={() => setIsCreating(true)}>
          New session profile
        </Button>
      }
    >
      <Asked query={query} rows={3} label="Loading the profiles">
        {({ sessionProfiles }) => (
          <Table
            label="Session profiles"
            columns={COLUMNS}
            rows={sessionProfiles}
            rowKey={({ sessionProfileId }) => sessionProfileId}
            empty={
              <Empty
                title="No session profiles yet"
                icon="key"
                call={`await client.createSessionProfile({\n  sessionProfileName: 'Swaps only',\n  scope: "activity.kind == 'SIGN_TRANSACTION'",\n  expirationSeconds: '900',\n})`}
              >
                A login names a profile, and its session can then do only what the scope covers. Profiles will be listed
                here.
              </Empty>
            }
          />
        )}
      </Asked>
      {isCreating && <SessionProfileDialog onClose={() => setIsCreating(false)} />}
    </Card>
  );
}

const INITIAL = { name: '', scope: '', minutes: '', notes: '' };

function SessionProfileDialog({ onClose }: { readonly onClose: () => void }) {
  const { value, set, discard } = useDraft('session profile', INITIAL);
  const [isTried, setIsTried] = useState(false);
  const minutes = value.minutes.trim();
  const parameters = {
    sessionProfileName: value.name.trim(),
    scope: value.scope.trim(),
    ...(minutes !== '' && { expirationSeconds: String(Number(minutes) * 60) }),
    ...(value.notes.trim() !== '' && { notes: value.notes.trim() }),
  };
  const { submit, repeat, outcome, isBusy, consent } = useAct('createSessionProfile', { current: parameters });
  const nameError = value.name.trim() === '' ? 'Give the profile a name.' : undefined;
  const minutesError = minutes === '' || /^[1-9]\d{0,6}$/.test(minutes) ? undefined : 'Type whole minutes.';
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const { state } = await work;
    if (state === 'refused') return;
    discard();
    if (state === 'completed') onClose();
  };
  return (
    <FormDialog
      title="New session profile"
      description="A profile never changes and cannot be deleted. It can be used here and in sub-organizations."
      act="Create session profile"
      busy="Creating…"
      method="createSessionProfile"
      parameters={parameters}
      outcome={outcome}
      consent={consent}
      isBusy={isBusy}
      onSubmit={() => {
        setIsTried(true);
        if (nameError === undefined && minutesError === undefined) void finish(submit(parameters));
      }}
      onRepeat={() => void finish(repeat())}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={value.name}
        maxLength={255}
        onChange={(name) => set({ name })}
        error={(isTried ? nameError : undefined) ?? fieldProblem(outcome, 'sessionProfileName')}
      />
      <TextArea
        label="Scope"
        hint="a condition; what the session can do"
        mono
        value={value.scope}
        onChange={(scope) => set({ scope })}
        error={fieldProblem(outcome, 'scope')}
        placeholder="activity.kind == 'SIGN_TRANSACTION'"
      />
      <TextField
        label="Lasts at most"
        hint="minutes; empty leaves it to the login"
        inputMode="numeric"
        value={value.minutes}
        onChange={(next) => set({ minutes: next })}
        error={minutesError ?? fieldProblem(outcome, 'expirationSeconds')}
      />
      <TextArea label="Notes" hint="for people" rows={2} value={value.notes} onChange={(notes) => set({ notes })} />
    </FormDialog>
  );
}
