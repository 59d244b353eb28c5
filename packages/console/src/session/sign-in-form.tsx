import { CustosError } from '@custos/sdk';
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

  function blame(found: NonNullable<typeof fault>): void {
    setProblem(undefined);
    setFault(found);
  }

  function byPasskey(): void {
    if (organizationId.trim() === '') {
      blame({
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
      blame({ field: 'credentials', text });
      return;
    }
    const target = organizationId.trim() || (read.organizationId ?? '');
    if (target === '') {
      blame({ field: 'organization', text: 'Which organization does this key belong to?' });
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
        onError={(text) => blame({ field: 'credentials', text })}
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

/** Before a session, a refused key is not a session that ended, nor a wrong ID something that is no longer there. */
export function signInProblem(error: unknown): Problem {
  const problem = problemOf(error);
  switch (problem.code) {
    case 'CREDENTIAL_NOT_FOUND':
      return { ...problem, title: 'This organization does not know the passkey.' };
    case 'PUBLIC_KEY_NOT_FOUND':
      return {
        ...problem,
        title: 'This organization does not know the key.',
        text: 'It was deleted, it ended, or it belongs to another organization.',
      };
    case 'ORGANIZATION_NOT_FOUND':
      return {
        ...problem,
        title: 'There is no organization with this ID.',
        text: 'Compare it with the file or the mail.',
      };
    default:
  }
  if (problem.fields.some(({ field }) => field === 'organizationId')) {
    return {
      ...problem,
      title: 'This is not the ID of an organization.',
      text: 'An ID has 36 characters, such as 01a1dd92-9107-7567-a6d5-2a8bc543f9b6.',
    };
  }
  if (problem.kind === 'session') return { ...problem, title: 'The key was not accepted.' };
  // Found out here: nothing was sent.
  const isLocal = error instanceof CustosError && error.httpStatus === undefined && problem.kind === 'invalid';
  return isLocal ? { ...problem, title: 'This is not a pair of keys.' } : problem;
}
