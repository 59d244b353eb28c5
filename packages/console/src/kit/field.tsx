import { type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes, useId } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './field.module.css';
import { Icon } from './icon.tsx';

export interface Described {
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

export interface FieldFrameProps {
  readonly id: string;
  readonly label: ReactNode;
  /** Grey, after the label: "what is requested". */
  readonly hint?: ReactNode;
  /** Under the control. */
  readonly help?: ReactNode;
  /** In place of the help; the control is invalid. */
  readonly error?: ReactNode;
  /** Amber: allowed, but look closely. */
  readonly warning?: ReactNode;
  readonly isLabelHidden?: boolean;
  readonly className?: string | undefined;
  readonly children: (described: Described) => ReactNode;
}

/** Label, control, and what is wrong with it in place. */
export function FieldFrame(props: FieldFrameProps) {
  const { id, label, hint, help, error, warning, isLabelHidden = false, className, children } = props;
  const textId = `${id}-text`;
  const text = error || warning || help;
  const described: Described = {
    ...(text ? { 'aria-describedby': textId } : {}),
    ...(error ? { 'aria-invalid': true as const } : {}),
  };
  return (
    <div className={cx(styles.field, className)}>
      <label htmlFor={id} className={isLabelHidden ? styles.hidden : styles.label}>
        {label}
        {hint !== undefined && <span className={styles.hint}> {hint}</span>}
      </label>
      {children(described)}
      {text && (
        <p id={textId} className={cx(styles.text, error ? styles.error : warning ? styles.warning : undefined)}>
          {error ? <Icon name="cross-circle" size={14} /> : warning ? <Icon name="triangle" size={14} /> : null}
          <span>{text}</span>
        </p>
      )}
    </div>
  );
}

type FrameProps = Omit<FieldFrameProps, 'id' | 'children' | 'isLabelHidden'> & { readonly hideLabel?: boolean };

function splitFrame<Props extends FrameProps>(props: Props) {
  const { label, hint, help, error, warning, hideLabel = false, className, ...rest } = props;
  return { frame: { label, hint, help, error, warning, className, isLabelHidden: hideLabel }, rest };
}

export interface TextFieldProps
  extends Omit<FrameProps, 'className'>,
    Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly mono?: boolean;
  /** Numbers stand at the right. */
  readonly alignRight?: boolean;
  /** Within the control: a search icon or a unit. */
  readonly before?: ReactNode;
  readonly after?: ReactNode;
  readonly ref?: Ref<HTMLInputElement>;
}

export function TextField(props: TextFieldProps) {
  const { frame, rest } = splitFrame(props);
  const { value, onChange, mono = false, alignRight = false, before, after, id: given, ...input } = rest;
  const made = useId();
  const id = given ?? made;
  return (
    <FieldFrame {...frame} id={id}>
      {(described) => (
        <span className={cx(styles.control, styles.box)}>
          {before}
          <input
            type="text"
            autoComplete="off"
            spellCheck={false}
            {...input}
            {...described}
            id={id}
            value={value}
            className={cx(styles.input, mono && styles.mono, alignRight && styles.right)}
            onChange={(event) => onChange(event.target.value)}
          />
          {after}
        </span>
      )}
    </FieldFrame>
  );
}

export interface TextAreaProps
  extends Omit<FrameProps, 'className'>,
    Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange' | 'value'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly mono?: boolean;
  readonly ref?: Ref<HTMLTextAreaElement>;
}

export function TextArea(props: TextAreaProps) {
  const { frame, rest } = splitFrame(props);
  const { value, onChange, mono = false, id: given, ...area } = rest;
  const made = useId();
  const id = given ?? made;
  return (
    <FieldFrame {...frame} id={id}>
      {(described) => (
        <textarea
          rows={3}
          spellCheck={false}
          {...area}
          {...described}
          id={id}
          value={value}
          className={cx(styles.control, styles.area, mono && styles.mono)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FieldFrame>
  );
}

export interface CheckboxProps {
  readonly label: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly help?: ReactNode;
  readonly off?: boolean;
  readonly ref?: Ref<HTMLInputElement>;
}

export function Checkbox({ label, checked, onChange, help, off = false, ref }: CheckboxProps) {
  return (
    <label className={styles.checkbox}>
      <span className={styles.tick}>
        <input
          type="checkbox"
          checked={checked}
          disabled={off}
          onChange={(event) => onChange(event.target.checked)}
          {...(ref && { ref })}
        />
        <Icon name="check" size={14} />
      </span>
      <span>
        {label}
        {help !== undefined && <span className={styles.checkboxHelp}>{help}</span>}
      </span>
    </label>
  );
}

export interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  /** Attributes of a field whose arrows move through a list box. */
  readonly combobox?: Pick<
    InputHTMLAttributes<HTMLInputElement>,
    'aria-expanded' | 'aria-controls' | 'aria-activedescendant' | 'onKeyDown'
  >;
  readonly ref?: Ref<HTMLInputElement>;
}

/** A filter of a list. `/` moves the focus to the first of a page. */
export function SearchField({ label, value, onChange, placeholder, combobox, ref }: SearchFieldProps) {
  return (
    <TextField
      label={label}
      hideLabel
      type="search"
      value={value}
      onChange={onChange}
      before={<Icon name="search" className={styles.searchIcon} />}
      {...(combobox ? { ...combobox, role: 'combobox' } : { 'data-filter': '' })}
      {...(placeholder !== undefined && { placeholder })}
      {...(ref && { ref })}
    />
  );
}
