import { useState } from 'react';
import { type Problem, problemOf } from '../api/problem.ts';
import { Button } from '../kit/button.tsx';
import { TextArea, TextField } from '../kit/field.tsx';
import { FileDrop } from '../kit/file-drop.tsx';
import { Note } from '../kit/note.tsx';
import { clock } from '../lib/time.ts';
import { readCredentials } from './credentials.ts';
import { signInWithApiKey, signInWithPasskey } from './login.ts';
import { whyNoPasskeys } from './passkeys.ts';
import styles from './sign-in.module.css';

export interface SignInFormProps {
  readonly organizationId: string;
  readonly onOrganizationId: (organizationId: string) => void;
  readonly onDone: () => void;
}

type Way = 'passkey' | 'api-key';

/** Both ways in. What is typed as a key lives in this component alone, and is gone as soon as it was used. */
export function SignInForm({ organizationId, onOrganizationId, onDone }: SignInFormProps) {
  const [credentials, setCredentials] = useState('');
  const [fault, setFault] = useState<{ readonly field: 'credentials' | 'organization'; readonly text: string }>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState<Way>();
  const noPasskeys = whyNoPasskeys();

  async function enter(way: Way, signIn: () => Promise<void>): Promise<void> {
    setBusy(way);
    setProblem(undefined);
    setFault(undefined);
    try {
      await signIn();
      setCredentials('');
      onDone();
    } catch (error) {
      setProblem(signInProblem(error));
    } finally {
      setBusy(undefined);
    }
  }

  function byPasskey(): void {
    if (organizationId.trim() === '') {
      setFault({
        field: 'organization',
        text: 'Which organization? Its ID is in the mail or the file that invited you.',
      });
      return;
    }
    void enter('passkey', () => signInWithPasskey(organizationId.trim()));
  }

  function byApiKey(): void {
    const read = readCredentials(credentials);
    if (read === undefined) {
      const text =
        credentials.trim() === ''
          ? 'Drop the file, or paste what is in it.'
          : 'This has no apiPublicKey and apiPrivateKey: it is not such a file.';
      setFault({ field: 'credentials', text });
      return;
    }
    const target = organizationId.trim() || (read.organizationId ?? '');
    if (target === '') {
      setFault({ field: 'organization', text: 'Which organization does this key belong to?' });
      return;
    }
    onOrganizationId(target);
    void enter('api-key', () => signInWithApiKey(read, target));
  }

  const take = (text: string): void => {
    setCredentials(text);
    setFault(undefined);
    const named = readCredentials(text)?.organizationId;
    if (named !== undefined) onOrganizationId(named);
  };

  return (
    <div className={styles.form}>
      {problem !== undefined && (
        <Note tone="deny" title={problem.title} role="alert">
          {problem.text}
          {problem.retryAtMs !== undefined && ` Try again at ${clock(problem.retryAtMs)}.`}
        </Note>
      )}
      <Button
        kind="ink"
        size="large"
        icon="passkey"
        wide
        busy={busy === 'passkey' && 'Waiting for the passkey…'}
        off={noPasskeys?.reason}
        onClick={byPasskey}
      >
        Sign in with a passkey
      </Button>
      {noPasskeys?.elsewhere !== undefined && (
        <p className={styles.elsewhere}>
          <a href={noPasskeys.elsewhere}>Open this page at localhost</a>, where passkeys work.
        </p>
      )}
      <p className={styles.or}>
        <span>or, before there is a passkey</span>
      </p>
      <FileDrop
        title="Credentials"
        text={(choose) => (
          <>
            Drop <code>root-credentials.json</code> here, {choose}, or paste what is in it.
          </>
        )}
        accept=".json,application/json,text/plain"
        maxBytes={64_000}
        onText={take}
        onError={(text) => setFault({ field: 'credentials', text })}
      >
        <TextArea
          label="Credentials"
          hideLabel
          mono
          rows={2}
          value={credentials}
          onChange={take}
          placeholder={'{ "apiPublicKey": "…", "apiPrivateKey": "…" }'}
          autoComplete="off"
          error={fault?.field === 'credentials' ? fault.text : undefined}
        />
        <TextField
          label="Organization ID"
          mono
          value={organizationId}
          onChange={onOrganizationId}
          error={fault?.field === 'organization' ? fault.text : undefined}
          help="Makes a session of 15 minutes. The key is then forgotten: it is not stored and leaves this page only as signatures."
        />
      </FileDrop>
      <Button icon="key" size="large" wide busy={busy === 'api-key' && 'Signing in…'} onClick={byApiKey}>
        Use an API key
      </Button>
    </div>
  );
}

/** Before a session, a refused key is not a session that ended. */
export function signInProblem(error: unknown): Problem {
  const problem = problemOf(error);
  if (problem.kind !== 'session') return problem;
  const isPasskey = problem.code === 'CREDENTIAL_NOT_FOUND';
  return {
    ...problem,
    title: isPasskey ? 'This organization does not know the passkey.' : 'The key was not accepted.',
  };
}
