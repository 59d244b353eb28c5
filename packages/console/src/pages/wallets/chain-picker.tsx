import { useState } from 'react';
import { ChainMark } from '../../kit/chain-mark.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { type ChainPreset, PRESETS } from '../../lib/chains.ts';
import styles from './wallets.module.css';

export interface ChainPickerProps {
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly error?: string | undefined;
  /** Only those that one key can serve. */
  readonly curve?: string;
}

export const presetsOf = (ids: readonly string[]): readonly ChainPreset[] =>
  PRESETS.filter(({ id }) => ids.includes(id));

/** Several chains at once; each makes an account at its usual path. */
export function ChainPicker({ chosen, onChange, error, curve }: ChainPickerProps) {
  const [hasAll, setHasAll] = useState(false);
  const fitting = PRESETS.filter((preset) => curve === undefined || preset.curve === curve);
  const shown = fitting.filter(({ id, isCommon }) => hasAll || isCommon || chosen.includes(id));
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>Chains</legend>
      <div className={styles.presets}>
        {shown.map(({ id, name, detail, mark }) => (
          <label key={id} className={styles.preset}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
              }
            />
            <ChainMark mark={mark} />
            <span className={styles.presetText}>
              {name}
              <small>{detail}</small>
            </span>
          </label>
        ))}
      </div>
      {shown.length < fitting.length && (
        <div>
          <LinkButton onClick={() => setHasAll(true)}>
            {fitting.length - shown.length} more chains and address kinds
          </LinkButton>
        </div>
      )}
      {error !== undefined && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
