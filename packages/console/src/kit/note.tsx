import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';
import styles from './note.module.css';

export type NoteTone = 'allow' | 'wait' | 'deny' | 'info';

const ICONS: Readonly<Record<NoteTone, IconName>> = {
  allow: 'check-circle',
  wait: 'triangle',
  deny: 'octagon',
  info: 'info',
};

export interface NoteProps {
  readonly tone: NoteTone;
  /** The bold first sentence, which is enough. With its full stop. */
  readonly title: ReactNode;
  readonly icon?: IconName;
  readonly children?: ReactNode;
  /** Buttons under the text. */
  readonly actions?: ReactNode;
  /** The buttons stand at the right, where there is room: for banners. */
  readonly inline?: boolean;
  /** Announced when it appears: `alert` at once, `status` politely. */
  readonly role?: 'alert' | 'status';
  readonly className?: string | undefined;
}

export function Note({ tone, title, icon = ICONS[tone], children, actions, inline, role, className }: NoteProps) {
  return (
    <div className={cx(styles.note, styles[tone], className)} role={role}>
      <Icon name={icon} className={styles.icon} />
      <div className={cx(styles.text, inline && styles.inline)}>
        <p>
          <b>{title}</b>
          {children !== undefined && <> {children}</>}
        </p>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
    </div>
  );
}
