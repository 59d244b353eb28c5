import { ApiKeyStamper, type Stamper } from '@custos/sdk';
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
import { type CodeChannel, CodeDialog } from './code-dialog.tsx';
import styles from './decision-bar.module.css';
import { TokenDialog } from './token-dialog.tsx';
import type { Decision } from './use-decision.ts';

/** The factors of the next step, each with its own way of giving it. They stand in place of Approve. */
export function Factors({ approval, decision }: { readonly approval: Approval; readonly decision: Decision }) {
  const { userId } = useSessionOrThrow();
  const client = useClient();
  const [dialog, setDialog] = useState<'key' | 'token' | CodeChannel>();
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
      decision.prove(passkeyStamper(named.length > 0 ? named.map(({ credentialId }) => credentialId) : undefined));
    } catch (failure) {
      setError(problemOf(failure).text);
    }
  }
  const proveBy = (stamper: Stamper): void => {
    setDialog(undefined);
    decision.prove(stamper);
  };
  // One button is the main one: the first that the step takes.
  const kindOf = (...before: readonly string[]) => (before.some(has) ? 'outline' : 'ink');
  const close = (): void => setDialog(undefined);
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
          onClick={() => decision.agree(() => void byPasskey())}
        >
          Confirm with a passkey
        </Button>
      )}
      {has('API_KEY') && (
        <Button
          kind={kindOf('PASSKEY')}
          size="large"
          icon="key"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => decision.agree(() => setDialog('key'))}
        >
          Confirm with an API key
        </Button>
      )}
      {has('SESSION') && (
        <Button
          kind={kindOf('PASSKEY', 'API_KEY')}
          size="large"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => decision.prove()}
        >
          Confirm with this session
        </Button>
      )}
      {has('EMAIL_OTP') && (
        <Button
          kind={kindOf('PASSKEY', 'API_KEY', 'SESSION')}
          size="large"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => decision.agree(() => setDialog('EMAIL'))}
        >
          Confirm with a code by mail
        </Button>
      )}
      {has('SMS_OTP') && (
        <Button
          kind={kindOf('PASSKEY', 'API_KEY', 'SESSION', 'EMAIL_OTP')}
          size="large"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => decision.agree(() => setDialog('SMS'))}
        >
          Confirm with a code by text message
        </Button>
      )}
      {has('OAUTH') && (
        <Button
          kind={kindOf('PASSKEY', 'API_KEY', 'SESSION', 'EMAIL_OTP', 'SMS_OTP')}
          size="large"
          busy={busy && 'Confirming…'}
          off={decision.approveOff}
          hideReason
          onClick={() => decision.agree(() => setDialog('token'))}
        >
          Confirm with a login token
        </Button>
      )}
      {error !== undefined && <p role="alert">{error}</p>}
      {dialog === 'key' && <KeyDialog onClose={close} onKey={proveBy} />}
      {(dialog === 'EMAIL' || dialog === 'SMS') && <CodeDialog channel={dialog} onClose={close} onProof={proveBy} />}
      {dialog === 'token' && (
        <TokenDialog
          providerIds={methods.flatMap(({ type, id }) => (type === 'AUTHENTICATION_TYPE_OAUTH' && id ? [id] : []))}
          onClose={close}
          onProof={proveBy}
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
