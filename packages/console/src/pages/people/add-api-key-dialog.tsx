import { type ApiKeyPair, generateApiKey } from '@custos/sdk';
import { useEffect, useRef, useState } from 'react';
import { ActDialog } from '../../kit/act-dialog.tsx';
import { Button } from '../../kit/button.tsx';
import { CopyButton } from '../../kit/copy-button.tsx';
import { TextField } from '../../kit/field.tsx';
import { Note } from '../../kit/note.tsx';
import { fieldProblem } from '../../kit/problem-note.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { Select } from '../../kit/select.tsx';
import { useOrganization } from '../../session/organization.ts';
import { useSessionEnd } from '../../session/use-session-end.ts';
import { useSecret } from '../wallets/use-secret.ts';
import styles from './people.module.css';

const DAY_SECONDS = 86_400;
const ENDS = [
  { value: '', label: 'Never' },
  { value: String(30 * DAY_SECONDS), label: 'After 30 days' },
  { value: String(90 * DAY_SECONDS), label: 'After 90 days' },
  { value: String(365 * DAY_SECONDS), label: 'After a year' },
];

/** A key made here, whose private half shows once, or the public half of one made elsewhere. */
export function AddApiKeyDialog({ userId, onClose }: { readonly userId: string; readonly onClose: () => void }) {
  const [way, setWay] = useState<'here' | 'paste'>('here');
  const [name, setName] = useState('');
  const [pasted, setPasted] = useState('');
  const [ends, setEnds] = useState(String(90 * DAY_SECONDS));
  const [pair, setPair] = useState<ApiKeyPair>();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    let isCurrent = true;
    void generateApiKey().then((made) => {
      if (isCurrent) setPair(made);
    });
    return () => {
      isCurrent = false;
    };
  }, []);
  const publicKey = way === 'here' ? (pair?.publicKey ?? '') : pasted.trim().toLowerCase();
  const isKey = /^0[23][0-9a-f]{64}$/.test(publicKey);
  return (
    <ActDialog
      method="createApiKeys"
      parameters={{
        userId,
        apiKeys: [
          {
            apiKeyName: name.trim(),
            publicKey,
            curveType: 'API_KEY_CURVE_P256',
            ...(ends !== '' && { expirationSeconds: ends }),
          },
        ],
      }}
      title="Add an API key"
      description="For programs. The service stores the public half alone."
      act="Add API key"
      acting="Adding…"
      initialFocus={field}
      off={name.trim() === '' ? 'Give it a name.' : !isKey && 'Paste the public key.'}
      done="The key was added."
      onClose={onClose}
    >
      {(outcome) =>
        outcome?.state === 'completed' || outcome?.state === 'waits' ? (
          way === 'here' &&
          (pair ? (
            <PrivateHalf pair={pair} userId={userId} onEnd={() => setPair(undefined)} />
          ) : (
            <Note tone="deny" title="The private half is gone.">
              Your session ended before you stored it. Delete the key and make another.
            </Note>
          ))
        ) : (
          <>
            <Segmented
              label="Where it is made"
              items={[
                { id: 'here', label: 'Make it in this browser' },
                { id: 'paste', label: 'Paste a public key' },
              ]}
              value={way}
              onChange={setWay}
            />
            <TextField
              ref={field}
              label="Name"
              value={name}
              onChange={setName}
              maxLength={255}
              error={fieldProblem(outcome, 'apiKeyName')}
            />
            {way === 'paste' && (
              <TextField
                label="Public key"
                hint="P-256, compressed, in hex"
                mono
                value={pasted}
                onChange={setPasted}
                error={
                  fieldProblem(outcome, 'publicKey') ??
                  (pasted !== '' && !isKey ? '33 bytes in hex that begin with 02 or 03.' : undefined)
                }
              />
            )}
            <Select label="Ends" options={ENDS} value={ends} onChange={setEnds} />
          </>
        )
      }
    </ActDialog>
  );
}

interface PrivateHalfProps {
  readonly pair: ApiKeyPair;
  readonly userId: string;
  /** The session ended: whoever is here next must not get the key. */
  readonly onEnd: () => void;
}

/** Shows for a minute, and exists nowhere but in this dialog. */
function PrivateHalf({ pair, userId, onEnd }: PrivateHalfProps) {
  const { organizationId } = useOrganization();
  useSessionEnd(onEnd);
  const { value, timeLeft, reveal, hide } = useSecret<string>();
  const text = JSON.stringify(
    { organizationId, userId, apiPublicKey: pair.publicKey, apiPrivateKey: pair.privateKey },
    null,
    2,
  );
  return (
    <div className={styles.form}>
      <Note tone="wait" title="The private half is in this dialog alone.">
        Store it before you close: nobody can show it again.
      </Note>
      {value === undefined ? (
        <div className={styles.buttons}>
          <Button icon="eye" onClick={() => void reveal(async () => text)}>
            Reveal
          </Button>
        </div>
      ) : (
        <>
          <pre className={styles.secret}>{value}</pre>
          <p className={styles.meta}>{timeLeft} What you copy stays in the clipboard until you copy something else.</p>
          <div className={styles.buttons}>
            <CopyButton text={value} label="Copy the credentials" word="Copy" />
            <Button size="small" onClick={hide}>
              Hide
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
