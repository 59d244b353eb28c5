import { ApiKeyStamper } from '@custos/sdk';
import { useState } from 'react';
import type { Approval } from '../../api/approvals.ts';
import { useClient } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextArea } from '../../kit/field.tsx';
import { readCredentials } from '../../session/credentials.ts';
import { passkeyStamper } from '../../session/login.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import styles from './decision-bar.module.css';
import type { Decision } from './use-decision.ts';

/** The factors of the next step, each with its own way of giving it. They stand in place of Approve. */
export function Factors({ approval, decision }: { readonly approval: Approval; readonly decision: Decision }) {
  const { userId } = useSessionOrThrow();
  const client = useClient();
  const [isKeyOpen, setIsKeyOpen] = useState(false);
  const [error, setError] = useState<string>();
  const next = approval.progress.authentication?.factors.find(({ isNext }) => isNext);
  const methods = next?.any ?? [];
  const has = (type: string): boolean => methods.some((method) => method.type === `AUTHENTICATION_TYPE_${type}`);
  const busy = decision.busy === 'Approve';

  /** Only the passkey that the step names, if it names one. */
  async function byPasskey(): Promise<void> {
    setError(undefined);
    try {
      const ids = methods.flatMap(({ type, id }) => (type === 'AUTHENTICATION_TYPE_PASSKEY' && id ? [id] : []));
      const { authenticators } = ids.length === 0 ? { authenticators: [] } : await client.getAuthenticators({ userId });
      const named = authenticators.filter(({ authenticatorId }) => ids.includes(authenticatorId));
      await decision.prove(
        passkeyStamper(named.length > 0 ? named.map(({ credentialId }) => credentialId) : undefined),
      );
    } catch (failure) {
      setError(problemOf(failure).text);
    }
  }
  const others = methods.filter(({ type }) => /OTP|OAUTH/.test(type));
  return (
    <div className={styles.proofs}>
      {has('PASSKEY') && (
        <Button
          kind="ink"
          size="large"
          icon="passkey"
          busy={busy && 'Confirming…'}
          off={decision.passkeyOff ?? decision.approveOff}
          hideReason
          onClick={() => void byPasskey()}
        >
          Confirm with a passkey
        </Button>
      )}
      {has('API_KEY') && (
        <Button
          kind={has('PASSKEY') ? 'outline' : 'ink'}
          size="large"
          icon="key"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => setIsKeyOpen(true)}
        >
          Confirm with an API key
        </Button>
      )}
      {has('SESSION') && (
        <Button
          kind={has('PASSKEY') || has('API_KEY') ? 'outline' : 'ink'}
          size="large"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => void decision.prove()}
        >
          Confirm with this session
        </Button>
      )}
      {others.length > 0 && others.length === methods.length && (
        <p className={styles.effect}>
          This step takes a code or a login token, which a program gives with an attested stamp: see the guide “MFA
          policies and session profiles”.
        </p>
      )}
      {error !== undefined && <p role="alert">{error}</p>}
      {isKeyOpen && (
        <KeyDialog
          onClose={() => setIsKeyOpen(false)}
          onKey={(stamper) => {
            setIsKeyOpen(false);
            void decision.prove(stamper);
          }}
        />
      )}
    </div>
  );
}

interface KeyDialogProps {
  readonly onClose: () => void;
  readonly onKey: (stamper: ApiKeyStamper) => void;
}

/** The key is used for one stamp and forgotten with the dialog. */
function KeyDialog({ onClose, onKey }: KeyDialogProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  const use = (): void => {
    const credentials = readCredentials(text);
    if (credentials === undefined) {
      setError('This is no key: it needs apiPublicKey and apiPrivateKey, or publicKey and privateKey.');
      return;
    }
    try {
      onKey(new ApiKeyStamper(credentials));
    } catch (failure) {
      setError(problemOf(failure).text);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Confirm with an API key"
      description="The key signs this one approval and is then forgotten. It never leaves this page."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="ink" icon="key" onClick={use}>
            Confirm
          </Button>
        </>
      }
    >
      <TextArea
        label="Credentials"
        mono
        rows={4}
        value={text}
        onChange={setText}
        autoComplete="off"
        placeholder={'{ "apiPublicKey": "…", "apiPrivateKey": "…" }'}
        {...(error !== undefined && { error })}
      />
    </Dialog>
  );
}
