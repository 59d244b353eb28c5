import type { ReactNode } from 'react';
import { Code } from './code.tsx';
import styles from './empty.module.css';
import { Icon, type IconName } from './icon.tsx';

export interface EmptyProps {
  /** What is not there: "No wallets yet". */
  readonly title: ReactNode;
  /** What will appear, and the next step. */
  readonly children: ReactNode;
  readonly icon?: IconName;
  /** In place of the icon, such as a `Seal`. */
  readonly mark?: ReactNode;
  /** The SDK call that makes or reads it. */
  readonly call?: string;
  readonly actions?: ReactNode;
}

export function Empty({ title, children, icon, mark, call, actions }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <div className={styles.head}>
        {mark ?? (icon && <Icon name={icon} size={24} className={styles.icon} />)}
        <div>
          <p className={styles.title}>{title}</p>
          <p className={styles.text}>{children}</p>
        </div>
      </div>
      {call !== undefined && <Code text={call} language="sdk" copy="Copy the call" />}
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
