import { useId, useState } from 'react';
import { useChains } from '../../../api/chains.ts';
import { useApi } from '../../../api/use-api.ts';
import { ENUMS } from '../../../generated/policy-language.ts';
import { useDraft } from '../../../kit/drafts.ts';
import { Checkbox, TextField } from '../../../kit/field.tsx';
import { fieldProblem } from '../../../kit/problem-note.tsx';
import { Segmented } from '../../../kit/segmented.tsx';
import { Select } from '../../../kit/select.tsx';
import { useAct } from '../../../kit/use-act.ts';
import { chainName } from '../../../lib/chains.ts';
import styles from '../policies.module.css';
import { FormDialog } from './form-dialog.tsx';
import { NEW_LIMIT, problemsOf, toControl } from './velocity-model.ts';

const OTHER = 'other';

export function VelocityDialog({ onClose }: { readonly onClose: () => void }) {
  const { value, set, discard } = useDraft('velocity control', NEW_LIMIT);
  const [isTried, setIsTried] = useState(false);
  const [isOther, setIsOther] = useState(false);
  const typesId = useId();
  const parameters = toControl(value);
  const { submit, repeat, outcome, isBusy, consent } = useAct('createVelocityControl', { current: parameters });
  const problems = isTried ? problemsOf(value) : {};
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const { state } = await work;
    if (state === 'refused') return;
    discard();
    if (state === 'completed') onClose();
  };
  const act = (): void => {
    setIsTried(true);
    if (Object.keys(problemsOf(value)).length === 0) void finish(submit(parameters));
  };
  const isAsset = value.counts === 'asset';
  return (
    <FormDialog
      title="New velocity control"
      description="A hard limit on top of policies. It allows nothing by itself, and only the root quorum can exceed it. It cannot be changed later, only deleted."
      act="Create velocity control"
      busy="Creating…"
      method="createVelocityControl"
      parameters={parameters}
      outcome={outcome}
      consent={consent}
      isBusy={isBusy}
      onSubmit={act}
      onRepeat={() => void finish(repeat())}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={value.name}
        maxLength={255}
        onChange={(name) => set({ name })}
        error={problems.name ?? fieldProblem(outcome, 'name')}
      />
      <Segmented
        wide
        label="What counts"
        items={[
          { id: 'asset', label: 'Amount of an asset' },
          { id: 'activities', label: 'Number of activities' },
        ]}
        value={value.counts}
        onChange={(counts) => set({ counts })}
      />
      {isAsset && (
        <AssetChoice isOther={isOther} onOther={setIsOther} value={value} set={set} error={problems.caip19} />
      )}
      <div className={styles.pair}>
        <TextField
          label={isAsset ? 'At most, in units of the asset' : 'At most'}
          inputMode="decimal"
          alignRight
          value={value.threshold}
          onChange={(threshold) => set({ threshold })}
          error={problems.threshold ?? fieldProblem(outcome, 'threshold')}
        />
        {isAsset && isOther ? (
          <TextField
            label="Decimals"
            inputMode="numeric"
            alignRight
            value={value.decimals}
            onChange={(decimals) => set({ decimals })}
            error={problems.decimals}
          />
        ) : (
          <Select label="Within" value={value.window} onChange={(window) => set({ window })} options={WINDOWS} />
        )}
      </div>
      {isAsset && isOther && (
        <Select label="Within" value={value.window} onChange={(window) => set({ window })} options={WINDOWS} />
      )}
      <Select
        label="Counted"
        value={value.group}
        onChange={(group) => set({ group })}
        options={[
          { value: 'organization', label: 'for the whole organization' },
          { value: 'user', label: 'for each user who asks' },
          { value: 'wallet', label: 'for each wallet' },
        ]}
      />
      <TextField
        label="Only activities of type"
        hint="empty is all"
        mono
        list={typesId}
        value={value.type}
        onChange={(type) => set({ type })}
        error={fieldProblem(outcome, 'activityType')}
      />
      <datalist id={typesId}>
        {(ENUMS['activity.type'] ?? []).map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      {isAsset && (
        <Checkbox
          label="Refuse what cannot be counted"
          help="Calls that nobody here can read would pass otherwise."
          checked={value.refusesUncounted}
          onChange={(refusesUncounted) => set({ refusesUncounted })}
        />
      )}
    </FormDialog>
  );
}

const WINDOWS = [
  { value: '1h', label: 'an hour' },
  { value: '24h', label: 'a day' },
  { value: '7d', label: 'a week' },
  { value: '30d', label: '30 days' },
  { value: 'ever', label: 'all time' },
] as const;

interface AssetChoiceProps {
  readonly value: typeof NEW_LIMIT;
  readonly set: (change: Partial<typeof NEW_LIMIT>) => void;
  readonly isOther: boolean;
  readonly onOther: (isOther: boolean) => void;
  readonly error: string | undefined;
}

/** One of the configured assets, or any by its CAIP-19 name. */
function AssetChoice({ value, set, isOther, onOther, error }: AssetChoiceProps) {
  const chains = useChains().data?.chains ?? [];
  const [caip2, setCaip2] = useState('');
  const chain = caip2 || (chains[0]?.caip2 ?? '');
  const assets = useApi('listSupportedAssets', { caip2: chain }, { enabled: chain !== '' }).data?.assets ?? [];
  const hasChains = chains.length > 0;
  return (
    <>
      {chains.length > 1 && (
        <Select
          label="Chain"
          value={chain}
          onChange={setCaip2}
          options={chains.map((one) => ({ value: one.caip2, label: chainName(one.caip2) }))}
        />
      )}
      {hasChains && (
        <Select
          label="Asset"
          value={isOther ? OTHER : value.caip19 || undefined}
          error={isOther ? undefined : error}
          onChange={(caip19) => {
            onOther(caip19 === OTHER);
            const found = assets.find((asset) => asset.caip19 === caip19);
            set(found ? { caip19, decimals: String(found.decimals) } : { caip19: '', decimals: '' });
          }}
          options={[
            ...assets.map(({ caip19, symbol, name }) => ({ value: caip19, label: symbol, detail: name })),
            { value: OTHER, label: 'Another, by its CAIP-19 name' },
          ]}
        />
      )}
      {(isOther || !hasChains) && (
        <TextField
          label="CAIP-19 name"
          mono
          placeholder="eip155:1/slip44:60"
          value={value.caip19}
          onChange={(caip19) => {
            onOther(true);
            set({ caip19 });
          }}
          error={error}
        />
      )}
    </>
  );
}
