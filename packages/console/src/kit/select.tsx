import { Select as Base } from '@base-ui/react/select';
import { type ReactNode, useId } from 'react';
import { cx } from '../lib/cx.ts';
import fieldStyles from './field.module.css';
import { FieldFrame, type FieldFrameProps } from './field.tsx';
import { Icon } from './icon.tsx';
import styles from './popup.module.css';

export interface SelectOption<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** Grey, under the label. */
  readonly detail?: ReactNode;
  /** Before the label, such as an `Avatar`. */
  readonly mark?: ReactNode;
  readonly off?: boolean;
}

export interface SelectProps<Value extends string> extends Omit<FieldFrameProps, 'children' | 'id' | 'htmlFor'> {
  readonly options: readonly SelectOption<Value>[];
  readonly value: Value | undefined;
  readonly onChange: (value: Value) => void;
  readonly placeholder?: string;
  /** The label is for screen readers only. */
  readonly hideLabel?: boolean;
}

/** One of several, with details. For few short ones `Segmented` shows all at once. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { options, value, onChange, placeholder = 'Choose', hideLabel, ...frame } = props;
  const id = useId();
  const chosen = options.find((option) => option.value === value);
  return (
    <FieldFrame {...frame} id={id} isLabelHidden={hideLabel ?? false}>
      {(described) => (
        <Base.Root
          value={value ?? null}
          modal={false}
          onValueChange={(next) => {
            if (next !== null) onChange(next as Value);
          }}
        >
          <Base.Trigger id={id} className={cx(fieldStyles.control, fieldStyles.select)} {...described}>
            {chosen?.mark}
            <span className={cx(styles.grow, fieldStyles.chosen, chosen === undefined && fieldStyles.placeholder)}>
              {chosen === undefined ? placeholder : <bdi>{chosen.label}</bdi>}
            </span>
            <Icon name="chevron-down" />
          </Base.Trigger>
          <Base.Portal>
            <Base.Positioner className={styles.positioner} sideOffset={4} alignItemWithTrigger={false}>
              <Base.Popup className={styles.popup}>
                {options.map((option) => (
                  <Base.Item
                    key={option.value}
                    value={option.value}
                    className={styles.item}
                    disabled={option.off ?? false}
                  >
                    {option.mark}
                    <span className={styles.grow}>
                      <Base.ItemText>
                        <bdi>{option.label}</bdi>
                      </Base.ItemText>
                      {option.detail !== undefined && <span className={styles.detail}>{option.detail}</span>}
                    </span>
                    <Base.ItemIndicator>
                      <Icon name="check" />
                    </Base.ItemIndicator>
                  </Base.Item>
                ))}
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      )}
    </FieldFrame>
  );
}
