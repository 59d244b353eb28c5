import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { TextField } from '../../kit/field.tsx';
import { fieldProblem, OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { useAct } from '../../kit/use-act.ts';
import { accountOf } from '../../lib/chains.ts';
import { ChainPicker, presetsOf } from './chain-picker.tsx';
import styles from './wallets.module.css';

const INITIAL = { name: '', words: '24' as '12' | '24', chains: ['ethereum'] as readonly string[] };

export function CreateWalletDialog({ onClose }: { readonly onClose: () => void }) {
  const { value, set, discard } = useDraft('create-wallet', INITIAL);
  const [isTried, setIsTried] = useState(false);
  const navigate = useNavigate();
  const off = useOffReason();
  const nameField = useRef<HTMLInputElement>(null);
  const name = value.name.trim();
  const parameters = {
    walletName: name,
    accounts: presetsOf(value.chains).map((preset) => accountOf(preset)),
    mnemonicLength: Number(value.words) as 12 | 24,
  };
  const { submit, repeat, outcome, isBusy, consent } = useAct('createWallet', { current: parameters });
  const nameError =
    fieldProblem(outcome, 'walletName') ?? (isTried && name === '' ? 'Give the wallet a name.' : undefined);
  const chainsError = isTried && value.chains.length === 0 ? 'Choose at least one chain.' : undefined;

  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const done = await work;
    if (done.state === 'completed') {
      discard();
      onClose();
      await navigate({ to: '/wallets/$walletId', params: { walletId: done.result.walletId } });
    } else if (done.state === 'waits') discard();
  };
  const stops = off ?? consent.off;
  const create = (): void => {
    // Enter in a field comes here too, whatever the button shows.
    if (stops || isBusy || outcome?.state === 'waits') return;
    setIsTried(true);
    if (name === '') nameField.current?.focus();
    else if (value.chains.length > 0) void finish(submit(parameters));
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title="Create a wallet"
      description="The service makes the words and keeps them sealed in its keyring. Nobody sees them, this page neither, until somebody exports the wallet."
      initialFocus={nameField}
      footer={
        <DialogFooter>
          <SameWithLink method="createWallet" parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button kind="ink" onClick={create} busy={isBusy && 'Creating…'} off={stops}>
              Create wallet
            </Button>
          )}
        </DialogFooter>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <TextField
          ref={nameField}
          label="Name"
          value={value.name}
          onChange={(next) => set({ name: next })}
          error={nameError}
          help="Policies and people will call it so."
          maxLength={255}
        />
        <div className={styles.group}>
          <span className={styles.legend}>Words</span>
          <div>
            <Segmented
              label="Words"
              items={[
                { id: '12', label: '12 words' },
                { id: '24', label: '24 words' },
              ]}
              value={value.words}
              onChange={(words) => set({ words })}
            />
          </div>
        </div>
        <ChainPicker chosen={value.chains} onChange={(chains) => set({ chains })} error={chainsError} />
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} done="The wallet was created." onRepeat={() => void finish(repeat())} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
