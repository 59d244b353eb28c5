import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { Note } from '../../kit/note.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { useAct } from '../../kit/use-act.ts';
import { useStore } from '../../lib/store.ts';
import { useSessionOrThrow } from '../../session/session.ts';
import { ImportKeyForm, ImportWordsForm } from './import-forms.tsx';
import { type ImportKind, importBundleIn, preparations, setPreparation } from './import-model.ts';
import styles from './wallets.module.css';

/** First the keyring makes a key to seal to, then this browser seals what is typed. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState<ImportKind>('words');
  const [bundles, setBundles] = useState<Readonly<Partial<Record<ImportKind, string>>>>({});
  const navigate = useNavigate();
  const bundle = bundles[kind];
  const onDone = async (walletId?: string): Promise<void> => {
    onClose();
    if (walletId !== undefined) await navigate({ to: '/wallets/$walletId', params: { walletId } });
  };
  const choice = (
    <Segmented
      label="What to import"
      items={[
        { id: 'words', label: 'Words of a wallet' },
        { id: 'key', label: 'Private key' },
      ]}
      value={kind}
      onChange={setKind}
    />
  );
  if (bundle === undefined) {
    return (
      <Prepare
        key={kind}
        kind={kind}
        choice={choice}
        onClose={onClose}
        onReady={(made) => setBundles((others) => ({ ...others, [kind]: made }))}
      />
    );
  }
  const Form = kind === 'words' ? ImportWordsForm : ImportKeyForm;
  return <Form importBundle={bundle} choice={choice} onClose={onClose} onDone={onDone} />;
}

interface PrepareProps {
  readonly kind: ImportKind;
  readonly choice: React.ReactNode;
  readonly onClose: () => void;
  readonly onReady: (importBundle: string) => void;
}

function Prepare({ kind, choice, onClose, onReady }: PrepareProps) {
  const method = kind === 'words' ? 'initImportWallet' : 'initImportPrivateKey';
  const { submit, repeat, outcome, isBusy, consent } = useAct(method);
  const { userId } = useSessionOrThrow();
  const off = useOffReason();
  const waitingId = useStore(preparations)[kind];
  const query = useApi(
    'getActivity',
    { activityId: waitingId ?? '' },
    { enabled: waitingId !== undefined, everyMs: 5_000 },
  );
  const approved = waitingId === undefined ? undefined : importBundleIn(query.data?.activity.result);
  const isRefused = ['ACTIVITY_STATUS_REJECTED', 'ACTIVITY_STATUS_FAILED'].includes(query.data?.activity.status ?? '');
  useEffect(() => {
    if (approved === undefined) return;
    setPreparation(kind, undefined);
    onReady(approved);
  }, [approved, kind, onReady]);
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const done = await work;
    if (done.state === 'completed') onReady(done.result.importBundle);
    else if (done.state === 'waits') setPreparation(kind, done.activity.id);
  };
  const isWaiting = waitingId !== undefined && !isRefused;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Import"
      description="First the keyring makes a key for this import. Then you type the secret; this browser checks that the service signed the key, and seals the secret to it. Nothing but the keyring can open it."
      footer={
        <DialogFooter>
          <SameWithLink method={method} parameters={{ userId }} />
          <Button onClick={onClose}>{isWaiting ? 'Close' : 'Cancel'}</Button>
          {!isWaiting && (
            <Button
              kind="ink"
              busy={isBusy && 'Preparing…'}
              off={off ?? consent.off}
              onClick={() => void finish(submit({ userId }))}
            >
              Begin
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <div>{choice}</div>
        {isWaiting ? (
          <Note tone="wait" icon="clock" title="The preparation waits for approval." role="status">
            Type nothing yet. Once others have approved, come back here and type the secret.{' '}
            <Link to="/activities/$activityId" params={{ activityId: waitingId }}>
              See the activity
            </Link>
          </Note>
        ) : (
          <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
        )}
        {!isWaiting && <ConsentBox consent={consent} />}
        {isRefused && (
          <Note tone="deny" title="The preparation was refused.">
            You can begin again.
          </Note>
        )}
      </div>
    </Dialog>
  );
}
