import { useState } from 'react';
import type { Account } from '../../api/chains.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { TextField } from '../../kit/field.tsx';
import { fieldProblem, OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { useAct } from '../../kit/use-act.ts';
import { accountOf, nextIndex } from '../../lib/chains.ts';
import { ChainPicker, presetsOf } from './chain-picker.tsx';
import styles from './wallets.module.css';

export interface AddAccountsDialogProps {
  readonly walletId: string;
  readonly accounts: readonly Account[];
  readonly onClose: () => void;
}

/** The next account of each chosen chain. */
export function AddAccountsDialog({ walletId, accounts, onClose }: AddAccountsDialogProps) {
  const [chains, setChains] = useState<readonly string[]>([]);
  const [name, setName] = useState('');
  const off = useOffReason();
  const chosen = presetsOf(chains);
  const parameters = {
    walletId,
    accounts: chosen.map((preset) => ({
      ...accountOf(preset, nextIndex(preset, accounts)),
      ...(chosen.length === 1 && name.trim() !== '' && { name: name.trim() }),
    })),
  };
  const { submit, repeat, outcome, isBusy, consent } = useAct('createWalletAccounts', { current: parameters });
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'completed') onClose();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add accounts"
      description="From the wallet’s words, at the next free path of each chain. Nothing has to be backed up again: the same words make the same accounts."
      footer={
        <DialogFooter>
          <SameWithLink method="createWalletAccounts" parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button
              kind="ink"
              busy={isBusy && 'Adding…'}
              off={off ?? ((chains.length === 0 && 'Choose a chain.') || consent.off)}
              onClick={() => void finish(submit(parameters))}
            >
              Add accounts
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <ChainPicker chosen={chains} onChange={setChains} />
        {chosen.length === 1 && (
          <TextField
            label="Name"
            hint="if you like"
            value={name}
            onChange={setName}
            maxLength={255}
            error={fieldProblem(outcome, 'accounts.0.name')}
          />
        )}
        {chosen.length > 0 && (
          <Facts>
            {chosen.map((preset) => (
              <Fact key={preset.id} label={preset.name}>
                <code>{accountOf(preset, nextIndex(preset, accounts)).path}</code>
              </Fact>
            ))}
          </Facts>
        )}
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
      </div>
    </Dialog>
  );
}
