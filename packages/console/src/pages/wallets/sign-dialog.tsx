import { useState } from 'react';
import type { Account } from '../../api/chains.ts';
import { useSimulation } from '../../api/simulation.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ChainMark } from '../../kit/chain-mark.tsx';
import { Code } from '../../kit/code.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { TextArea } from '../../kit/field.tsx';
import { Note } from '../../kit/note.tsx';
import { PolicyPreview, prospectOf } from '../../kit/policy-preview.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Select } from '../../kit/select.tsx';
import { useAct } from '../../kit/use-act.ts';
import { shortAddress } from '../../lib/addresses.ts';
import { familyOf } from '../../lib/chains.ts';
import { joinSignature } from '../../lib/evm.ts';
import { showInvisible } from '../../lib/text.ts';
import { accountName } from './accounts-card.tsx';
import { signatureText, signParameters, signRule } from './sign-model.ts';
import styles from './wallets.module.css';

const INITIAL = { message: '' };

export function SignDialog({
  accounts,
  onClose,
}: {
  readonly accounts: readonly Account[];
  readonly onClose: () => void;
}) {
  const [address, setAddress] = useState(accounts[0]?.address);
  const { value, set, discard } = useDraft('sign-message', INITIAL);
  const off = useOffReason();
  const account = accounts.find((one) => one.address === address) ?? accounts[0];
  const { message } = value;
  const parameters = account === undefined || message === '' ? undefined : signParameters(account, message);
  const { submit, repeat, reset, outcome, isBusy, consent } = useAct('signRawPayload', { current: parameters });
  const forecast = useSimulation(
    parameters === undefined || outcome?.state === 'completed'
      ? undefined
      : { type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', parameters: { ...parameters } },
  );
  const prospect = forecast.simulation && prospectOf(forecast.simulation);
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state !== 'refused') discard();
  };
  const shown = showInvisible(message);
  const hasInvisible = shown.replaceAll('⟨U+000A⟩', '\n') !== message;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Sign a message"
      description="A signature shows that the holder of the account agreed to a text. It moves nothing by itself, but sites take it as a sign-in or as consent: read the text."
      footer={
        <DialogFooter>
          {parameters === undefined ? <span /> : <SameWithLink method="signRawPayload" parameters={parameters} />}
          <Button onClick={onClose}>{outcome?.state === 'completed' ? 'Close' : 'Cancel'}</Button>
          {outcome?.state !== 'completed' && outcome?.state !== 'waits' && (
            <Button
              kind="ink"
              busy={isBusy && 'Signing…'}
              off={
                off ||
                (parameters === undefined && 'Type a message.') ||
                (prospect === 'denied' && 'Policies would deny it.') ||
                consent.off
              }
              onClick={() => {
                if (parameters !== undefined) void finish(submit(parameters));
              }}
            >
              {prospect === 'waits' ? 'Ask to sign' : 'Sign'}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <Select
          label="Account"
          value={account?.address}
          onChange={(next) => {
            setAddress(next);
            reset();
          }}
          options={accounts.map((one) => ({
            value: one.address,
            label: `${accountName(one)}, ${shortAddress(one.address)}`,
            detail: one.path,
            mark: <ChainMark size="small" mark={familyOf(one.addressFormat).mark} />,
          }))}
        />
        {account && (
          <Note tone="info" title={signRule(account).title}>
            {signRule(account).text}
          </Note>
        )}
        {outcome?.state === 'completed' && account ? (
          <>
            <Note tone="allow" role="status" title="Signed." />
            <Code text={signatureText(account, outcome.result, joinSignature)} copy="Copy the signature" />
          </>
        ) : (
          <>
            <TextArea
              label="Message"
              rows={5}
              value={message}
              onChange={(next) => {
                set({ message: next });
                reset();
              }}
              warning={hasInvisible && `It holds characters that nobody sees: ${shown}`}
            />
            <PolicyPreview forecast={forecast} hint="Type a message to see it." />
            {outcome?.state !== 'waits' && <ConsentBox consent={consent} />}
            <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
          </>
        )}
      </div>
    </Dialog>
  );
}
