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
import type { Curve } from '../../lib/chains.ts';
import { ChainPicker, presetsOf } from './chain-picker.tsx';
import styles from './wallets.module.css';

export const CURVES: readonly { readonly id: Curve; readonly label: string }[] = [
  { id: 'CURVE_SECP256K1', label: 'secp256k1' },
  { id: 'CURVE_ED25519', label: 'Ed25519' },
  { id: 'CURVE_P256', label: 'P-256' },
];

const INITIAL = { name: '', curve: 'CURVE_SECP256K1' as Curve, chains: ['ethereum'] as readonly string[] };

export function CreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const { value, set, discard } = useDraft('create-private-key', INITIAL);
  const [isTried, setIsTried] = useState(false);
  const off = useOffReason();
  const nameField = useRef<HTMLInputElement>(null);
  const name = value.name.trim();
  const chains = presetsOf(value.chains).filter(({ curve }) => curve === value.curve);
  const addressFormats =
    value.curve === 'CURVE_P256'
      ? ['ADDRESS_FORMAT_COMPRESSED' as const]
      : chains.map(({ addressFormat }) => addressFormat);
  const parameters = {
    privateKeys: [{ privateKeyName: name, curve: value.curve, privateKeyTags: [], addressFormats }],
  };
  const { submit, repeat, outcome, isBusy, consent } = useAct('createPrivateKeys', { current: parameters });

  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const done = await work;
    if (done.state !== 'refused') discard();
    if (done.state === 'completed') onClose();
  };
  const stops = off ?? consent.off;
  const create = (): void => {
    // Enter in a field comes here too, whatever the button shows.
    if (stops || isBusy || outcome?.state === 'waits') return;
    setIsTried(true);
    if (name === '') nameField.current?.focus();
    else void finish(submit(parameters));
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Create a private key"
      description="One key without words. A wallet is the better choice for most: from its words any number of accounts can be made again."
      initialFocus={nameField}
      footer={
        <DialogFooter>
          <SameWithLink method="createPrivateKeys" parameters={parameters} />
          <Button onClick={onClose}>{outcome?.state === 'waits' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'waits' && (
            <Button kind="ink" onClick={create} busy={isBusy && 'Creating…'} off={stops}>
              Create private key
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
          error={
            fieldProblem(outcome, 'privateKeyName') ?? (isTried && name === '' ? 'Give the key a name.' : undefined)
          }
          maxLength={255}
        />
        <div className={styles.group}>
          <span className={styles.legend}>Curve</span>
          <div>
            <Segmented
              label="Curve"
              items={CURVES}
              value={value.curve}
              onChange={(curve) => set({ curve, chains: [] })}
            />
          </div>
        </div>
        {value.curve === 'CURVE_P256' ? (
          <p>P-256 keys sign for no chain that has presets; the address is the public key.</p>
        ) : (
          <ChainPicker chosen={value.chains} curve={value.curve} onChange={(next) => set({ chains: next })} />
        )}
        {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
        <OutcomeNote outcome={outcome} done="The key was created." onRepeat={() => void finish(repeat())} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
