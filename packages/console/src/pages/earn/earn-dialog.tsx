import { useRef, useState } from 'react';
import { useSimulation } from '../../api/simulation.ts';
import { useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Button } from '../../kit/button.tsx';
import { ConsentBox } from '../../kit/consent.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DialogFooter } from '../../kit/dialog-footer.tsx';
import { Checkbox, TextField } from '../../kit/field.tsx';
import { PolicyPreview, prospectOf } from '../../kit/policy-preview.tsx';
import { OutcomeNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { useAct } from '../../kit/use-act.ts';
import { formatUnits } from '../../lib/amounts.ts';
import { checkAmount } from '../wallets/send-form-model.ts';
import styles from './earn.module.css';
import { chainOf, type EnabledVault, type Position } from './earn-model.ts';

export type EarnAct =
  | { readonly kind: 'deposit'; readonly vault: EnabledVault; readonly address: string }
  | { readonly kind: 'withdraw'; readonly position: Position; readonly address: string };

/** Deposits or withdraws, after showing what policies would say to it. */
export function EarnDialog({ act, onClose }: { readonly act: EarnAct; readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [isAll, setIsAll] = useState(false);
  const off = useOffReason();
  const field = useRef<HTMLInputElement>(null);
  const isDeposit = act.kind === 'deposit';
  const { caip19, wrapperAddress } = isDeposit ? act.vault : act.position;
  const caip2 = chainOf(caip19);
  const supported = useApi('listSupportedAssets', { caip2 });
  const held = useApi('getWalletAddressBalances', { address: act.address, caip2 }, { enabled: isDeposit });
  const token = supported.data?.assets.find((one) => one.caip19.toLowerCase() === caip19.toLowerCase());
  const found = held.data?.balances.find((one) => one.caip19.toLowerCase() === caip19.toLowerCase());
  const most = isDeposit
    ? held.data === undefined
      ? undefined
      : BigInt(found?.balance ?? '0')
    : BigInt(act.position.currentValue);
  const amount = token === undefined ? undefined : checkAmount(text, { ...token, isNative: false, balance: most });
  const units = amount !== undefined && 'value' in amount ? String(amount.value) : undefined;
  const value = isAll && !isDeposit ? 'MAX' : units;
  const common = { wrapperAddress, signWith: act.address, chainCaip2: caip2 };
  const parameters =
    value === undefined ? undefined : isDeposit ? { ...common, assets: value } : { ...common, amountValue: value };
  const method = isDeposit ? 'earnDeposit' : 'earnWithdraw';
  const { submit, repeat, reset, outcome, isBusy, consent } = useAct(method, { current: parameters });
  const forecast = useSimulation(
    parameters === undefined
      ? undefined
      : { type: isDeposit ? 'ACTIVITY_TYPE_EARN_DEPOSIT' : 'ACTIVITY_TYPE_EARN_WITHDRAW', parameters },
  );
  const prospect = forecast.simulation && prospectOf(forecast.simulation);
  const verb = isDeposit ? 'deposit' : 'withdraw';
  const what =
    token === undefined || parameters === undefined
      ? ''
      : value === 'MAX'
        ? ' all of it'
        : ` ${formatUnits(BigInt(value ?? '0'), token.decimals)} ${token.symbol}`;
  const isOver = outcome !== undefined && outcome.state !== 'refused';
  return (
    <Dialog
      open
      onClose={onClose}
      title={
        isDeposit ? (
          <>
            Deposit into <bdi>{act.vault.name}</bdi>
          </>
        ) : (
          'Withdraw'
        )
      }
      description={
        isDeposit
          ? 'The tokens go into the vault through this organization’s wrapper. A vault lends them to others: its value can fall, and withdrawing needs liquidity.'
          : 'The tokens come back to the account. If the vault has lent out more than it can pay now, the withdrawal fails and nothing moves.'
      }
      initialFocus={field}
      footer={
        <DialogFooter>
          {parameters === undefined ? <span /> : <SameWithLink method={method} parameters={parameters} />}
          <Button onClick={onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button
              kind="ink"
              busy={isBusy && (isDeposit ? 'Depositing…' : 'Withdrawing…')}
              off={
                off ||
                (parameters === undefined && 'Type an amount.') ||
                (prospect === 'denied' && 'Policies would deny it.') ||
                consent.off
              }
              onClick={() => {
                if (parameters !== undefined) void submit(parameters as never);
              }}
            >
              {prospect === 'waits' || prospect === 'proof'
                ? `Ask to ${verb}${what}`
                : `${verb.charAt(0).toUpperCase()}${verb.slice(1)}${what}`}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <div className={styles.form}>
        <TextField
          ref={field}
          label="Amount"
          hint={token?.symbol}
          inputMode="decimal"
          alignRight
          value={text}
          onChange={(next) => {
            setText(next);
            reset();
          }}
          error={!isAll && amount !== undefined && 'error' in amount ? amount.error : undefined}
          help={most !== undefined && token && `of ${formatUnits(most, token.decimals)} ${token.symbol}`}
        />
        {!isDeposit && (
          <Checkbox label="All of it, with what it earns until then" checked={isAll} onChange={setIsAll} />
        )}
        <PolicyPreview forecast={forecast} hint="Type an amount to see it." />
        {!isOver && <ConsentBox consent={consent} />}
        <OutcomeNote
          outcome={outcome}
          done={isDeposit ? 'The deposit is on its way.' : 'The withdrawal is on its way.'}
          onRepeat={() => void repeat()}
        />
      </div>
    </Dialog>
  );
}
