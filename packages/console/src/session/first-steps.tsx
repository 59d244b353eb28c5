import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { useApi } from '../api/use-api.ts';
import { Button } from '../kit/button.tsx';
import { Card } from '../kit/card.tsx';
import { ConsentDialog } from '../kit/consent.tsx';
import { Icon } from '../kit/icon.tsx';
import { LinkButton } from '../kit/link-button.tsx';
import { Note } from '../kit/note.tsx';
import { OutcomeNote } from '../kit/problem-note.tsx';
import { SameWithLink } from '../kit/same-with.tsx';
import { useAct } from '../kit/use-act.ts';
import { useNarrow } from '../lib/use-media.ts';
import styles from './first-steps.module.css';
import { addPasskey, removeKeyFile, tryPasskey } from './first-steps-acts.ts';
import { useOrganization } from './organization.ts';
import { unmadePasskey, whyNoPasskeys } from './passkeys.ts';
import { fetchContext } from './service-context.ts';
import { useSessionOrThrow } from './session.ts';

const PASSKEY_NAME = 'First passkey';
const REMOVE = 'Remove the key and its file';

/** What makes a fresh installation fit to keep money; gone once it is done. */
export function FirstSteps() {
  const session = useSessionOrThrow();
  const { isReadOnly } = useOrganization();
  const client = useClient();
  const queries = useQueryClient();
  const context = useQuery({ queryKey: ['context'], queryFn: ({ signal }) => fetchContext(signal) });
  const isFirst = context.data?.firstOrganizationId === session.organizationId && !isReadOnly;
  const passkeys = useApi('getAuthenticators', { userId: session.userId }, { enabled: isFirst });
  const users = useApi('listUsers', {}, { enabled: isFirst });
  const apiKeys = useApi('getApiKeys', { userId: session.userId }, { enabled: isFirst });
  const [busy, setBusy] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const [showsAll, setShowsAll] = useState(false);
  const isNarrow = useNarrow();
  const [hasStamped, setHasStamped] = useState(session.origin === 'passkey');

  const fileKey = context.data?.credentialsFile?.publicKey;
  const keys = useApi('getApiKeys', { userId: session.userId }, { enabled: isFirst && fileKey !== undefined });
  const ownKey = keys.data?.apiKeys.find(({ credential }) => credential.publicKey === fileKey);
  const removed = { userId: session.userId, apiKeyIds: ownKey === undefined ? [] : [ownKey.apiKeyId] };
  const remover = useAct('deleteApiKeys');
  const ownIds = (passkeys.data?.authenticators ?? []).map(({ credentialId }) => credentialId);
  const count = passkeys.data?.authenticators.length;
  if (!isFirst || count === undefined || users.data === undefined || apiKeys.data === undefined) return null;
  const isAlone = users.data.users.length < 2;
  const hasFileKey = apiKeys.data.apiKeys.some(({ credential }) => credential.publicKey === fileKey);
  // The installation is no longer fresh, or its file is the business of somebody else.
  if (!hasFileKey && !isAlone) return null;
  // Only the file's own user can delete its key without asking others.
  if (count > 0 && fileKey === undefined && session.origin === 'passkey') return null;

  async function act(verb: string, work: () => Promise<void>): Promise<void> {
    setBusy(verb);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(undefined);
      await queries.invalidateQueries();
    }
  }
  /** The key by an activity first, which others may have to approve; then the file. */
  async function remove(): Promise<void> {
    if (ownKey !== undefined && (await remover.submit(removed)).state !== 'completed') return;
    await act('remove', () => removeKeyFile(session));
  }
  const isDone = [count > 0, count > 0 && fileKey === undefined, !isAlone];
  // On a phone the list under it needs the room: the next step is enough.
  const isShown = (index: number): boolean => !isNarrow || showsAll || isDone.indexOf(false) === index;
  const noPasskeys = whyNoPasskeys()?.reason;
  return (
    <Card
      title="Three steps before you keep money here"
      {...(isNarrow && {
        actions: (
          <LinkButton aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? 'Show the next alone' : 'Show all'}
          </LinkButton>
        ),
      })}
    >
      {problem !== undefined && (
        <Note tone="deny" title={problem.title} role="alert">
          {problem.text}
        </Note>
      )}
      {remover.outcome?.state !== 'completed' && (
        <OutcomeNote outcome={remover.outcome} onRepeat={() => void remover.repeat()} />
      )}
      <ConsentDialog consent={remover.consent} act={REMOVE} />
      <ol className={styles.steps}>
        <Step
          number={1}
          isShown={isShown(0)}
          isDone={isDone[0] ?? false}
          title="Add a passkey"
          text="On this device or a security key."
        >
          {count === 0 && (
            <>
              <Button
                kind="ink"
                icon="passkey"
                busy={busy === 'add' && 'Adding…'}
                off={noPasskeys}
                onClick={() =>
                  void act('add', async () => {
                    await addPasskey(client, session, PASSKEY_NAME);
                    setHasStamped(true);
                  })
                }
              >
                Add a passkey
              </Button>
              <SameWithLink method="createAuthenticators" parameters={unmadePasskey(session.userId, PASSKEY_NAME)} />
            </>
          )}
        </Step>
        <Step
          number={2}
          isShown={isShown(1)}
          isDone={isDone[1] ?? false}
          title="Remove the key file"
          text={
            fileKey === undefined
              ? 'The file root-credentials.json is gone.'
              : 'Its key can do everything, and anybody who reads the file has it. Deletes the key, then the file.'
          }
        >
          {count > 0 && fileKey !== undefined && !hasStamped && (
            <Button
              icon="passkey"
              busy={busy === 'try' && 'Waiting for the passkey…'}
              off={noPasskeys}
              onClick={() =>
                void act('try', async () => {
                  await tryPasskey(session, ownIds);
                  setHasStamped(true);
                })
              }
            >
              Try the passkey first
            </Button>
          )}
          {count > 0 && fileKey !== undefined && hasStamped && (
            <>
              <Button
                kind="danger"
                busy={(busy === 'remove' || remover.isBusy) && 'Removing…'}
                off={keys.data === undefined && 'Being read.'}
                hideReason
                onClick={() => void remove()}
              >
                {REMOVE}
              </Button>
              {ownKey !== undefined && <SameWithLink method="deleteApiKeys" parameters={removed} />}
            </>
          )}
        </Step>
        <Step
          number={3}
          isShown={isShown(2)}
          isDone={isDone[2] ?? false}
          title="Invite a second person"
          text="From then on, two can agree on what one could only do alone."
        >
          {isAlone && <Link to="/people">Go to People</Link>}
        </Step>
      </ol>
    </Card>
  );
}

interface StepProps {
  readonly number: number;
  readonly isShown: boolean;
  readonly isDone: boolean;
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}

function Step({ number, isShown, isDone, title, text, children }: StepProps) {
  return (
    <li className={styles.step} hidden={!isShown}>
      <span className={isDone ? styles.done : styles.number}>
        {isDone ? <Icon name="check" size={14} label="Done" /> : number}
      </span>
      <div className={styles.text}>
        <b>{title}</b>
        <p>{text}</p>
      </div>
      <div className={styles.act}>{children}</div>
    </li>
  );
}
