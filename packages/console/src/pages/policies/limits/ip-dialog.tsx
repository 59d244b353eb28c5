import type { GetIpAllowlistResponse } from '@custos/sdk';
import { useMemo } from 'react';
import { Button, IconButton } from '../../../kit/button.tsx';
import { ChangedMeanwhile } from '../../../kit/changed-meanwhile.tsx';
import { useDraft } from '../../../kit/drafts.ts';
import { Checkbox, TextField } from '../../../kit/field.tsx';
import { Note } from '../../../kit/note.tsx';
import { useAct } from '../../../kit/use-act.ts';
import styles from '../policies.module.css';
import { FormDialog } from './form-dialog.tsx';

export type Allowlist = GetIpAllowlistResponse['allowlist'];

export interface IpDialogProps {
  /** The key whose list it is; without it that of the organization. */
  readonly publicKey: string | undefined;
  readonly list: Allowlist | undefined;
  readonly onClose: () => void;
}

/** The whole list at once: the service replaces it. */
export function IpDialog({ publicKey, list, onClose }: IpDialogProps) {
  const initial = useMemo(
    () => ({
      isEnabled: list?.enabled ?? false,
      rules: (list?.rules ?? []).map(({ cidr, label }) => ({ cidr, label: label ?? '' })),
      letsUnknownIn: list?.onEvaluationError === 'ALLOW',
      allowsLockout: false,
    }),
    [list],
  );
  const { value, set, discard, meanwhile, rebase } = useDraft(`ip ${publicKey ?? ''}`, initial);
  const rules = value.rules
    .filter(({ cidr }) => cidr.trim() !== '')
    .map(({ cidr, label }) => ({ cidr: cidr.trim(), ...(label.trim() !== '' && { label: label.trim() }) }));
  const parameters = {
    ...(publicKey === undefined ? { enabled: value.isEnabled } : { publicKey }),
    rules,
    onEvaluationError: value.letsUnknownIn ? ('ALLOW' as const) : ('DENY' as const),
    ...(value.allowsLockout && { allowLockout: true }),
  };
  const { submit, repeat, outcome, isBusy, consent } = useAct('setIpAllowlist', { current: parameters });
  const isLockout = outcome?.state === 'refused' && outcome.problem.code === 'IP_LOCKOUT';
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const { state } = await work;
    if (state === 'refused') return;
    discard();
    if (state === 'completed') onClose();
  };
  const edit = (index: number, change: Partial<(typeof value.rules)[number]>): void =>
    set({ rules: value.rules.map((rule, at) => (at === index ? { ...rule, ...change } : rule)) });
  return (
    <FormDialog
      title={publicKey === undefined ? 'IP allowlist of the organization' : 'IP allowlist of the key'}
      description="Only requests from these addresses are let in. The whole list is replaced."
      act="Change list"
      busy="Changing…"
      method="setIpAllowlist"
      parameters={parameters}
      outcome={outcome}
      consent={consent}
      isBusy={isBusy}
      off={meanwhile.length > 0 && 'Choose between the two changes first.'}
      onSubmit={() => void finish(submit(parameters))}
      onRepeat={() => void finish(repeat())}
      onClose={onClose}
    >
      {meanwhile.length > 0 && (
        <ChangedMeanwhile
          what="list"
          now={`${initial.isEnabled ? 'enforced' : 'not enforced'}, ${initial.rules.map(({ cidr }) => cidr).join(', ') || 'no addresses'}`}
          onRebase={rebase}
        />
      )}
      {publicKey === undefined && (
        <Checkbox label="Enforce the list" checked={value.isEnabled} onChange={(isEnabled) => set({ isEnabled })} />
      )}
      <ul className={styles.rules}>
        {value.rules.map(({ cidr, label }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules are known by their place
          <li key={index} className={styles.rule}>
            <TextField
              label="Addresses"
              mono
              placeholder="203.0.113.0/24"
              value={cidr}
              onChange={(next) => edit(index, { cidr: next })}
            />
            <TextField label="Label" value={label} onChange={(next) => edit(index, { label: next })} />
            <IconButton
              icon="cross"
              label={`Remove ${cidr || 'the empty rule'}`}
              onClick={() => set({ rules: value.rules.filter((_rule, at) => at !== index) })}
            />
          </li>
        ))}
      </ul>
      <div>
        <Button size="small" icon="plus" onClick={() => set({ rules: [...value.rules, { cidr: '', label: '' }] })}>
          Add addresses
        </Button>
      </div>
      {value.isEnabled && rules.length === 0 && publicKey === undefined && (
        <Note tone="deny" title="An enforced list without a rule lets nobody in." />
      )}
      <Checkbox
        label="Let requests in whose address is not known"
        checked={value.letsUnknownIn}
        onChange={(letsUnknownIn) => set({ letsUnknownIn })}
      />
      {isLockout && (
        <Checkbox
          label="This computer is locked out by it. I want that."
          help="The only way back is an address on the list."
          checked={value.allowsLockout}
          onChange={(allowsLockout) => set({ allowsLockout })}
        />
      )}
    </FormDialog>
  );
}
