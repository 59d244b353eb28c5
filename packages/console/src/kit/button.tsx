import { type ButtonHTMLAttributes, type ReactNode, type Ref, useId } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './button.module.css';
import { Icon, type IconName } from './icon.tsx';

export type ButtonKind = 'ink' | 'outline' | 'quiet' | 'danger';

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  /** Ink once per view; danger (a red outline) for deletion alone. Outline unless told. */
  readonly kind?: ButtonKind;
  readonly size?: 'small' | 'normal' | 'large';
  readonly icon?: IconName;
  /** The verb in progress, such as "Signing…": the button keeps its width and takes no further click. */
  readonly busy?: string | false | undefined;
  /** Why it is off. The reason stands beside the button unless `hideReason`, and is always its description. */
  readonly off?: string | false | undefined;
  readonly hideReason?: boolean;
  readonly wide?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button(props: ButtonProps) {
  const { kind = 'outline', size = 'normal', icon, busy, off, hideReason, wide, className, children, ...rest } = props;
  const reasonId = useId();
  const isIdle = !busy && !off;
  const button = (
    <button
      type="button"
      {...rest}
      className={cx(styles.button, styles[kind], styles[size], wide && styles.wide, busy && styles.busy, className)}
      aria-disabled={isIdle ? undefined : true}
      aria-busy={busy ? true : undefined}
      aria-describedby={off ? reasonId : rest['aria-describedby']}
      // Not `disabled`: it stays reachable, so that everybody can learn why it is off.
      onClick={isIdle ? rest.onClick : (event) => event.preventDefault()}
    >
      <Label icon={busy ? 'refresh' : icon} isHidden={false}>
        {busy || children}
      </Label>
      {busy && (
        <Label icon={icon} isHidden={true}>
          {children}
        </Label>
      )}
    </button>
  );
  if (!off) return button;
  return (
    <span className={cx(styles.group, wide && styles.wide)}>
      {wide && button}
      <span id={reasonId} className={hideReason ? styles.hidden : styles.reason}>
        {off}
      </span>
      {!wide && button}
    </span>
  );
}

function Label(props: {
  readonly icon: IconName | undefined;
  readonly isHidden: boolean;
  readonly children: ReactNode;
}) {
  return (
    <span className={cx(styles.label, props.isHidden && styles.ghost)} aria-hidden={props.isHidden || undefined}>
      {props.icon && <Icon name={props.icon} />}
      {props.children}
    </span>
  );
}

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: IconName;
  /** Its accessible name. */
  readonly label: string;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, className, ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} className={cx(styles.icon, className)} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
