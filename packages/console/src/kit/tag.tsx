import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './tag.module.css';

export interface TagProps {
  readonly children: ReactNode;
  /** `line`: a user's or key's tag; `soft`: a grey mark; `accent`: "you", "draft"; `allow`/`deny`: the effect of a policy that decided. */
  readonly kind?: 'line' | 'soft' | 'accent' | 'allow' | 'deny' | 'deny-line' | 'ink-line';
}

export function Tag({ children, kind = 'line' }: TagProps) {
  return (
    <span className={cx(styles.tag, styles[kind])}>
      <bdi>{children}</bdi>
    </span>
  );
}

/** Solid, never like a tag: tags can be called anything, also "Root". */
export function RootMark() {
  return <span className={cx(styles.tag, styles.root)}>Root</span>;
}

/** How many, in ink: the only badge. */
export function Badge({ count, label }: { readonly count: number; readonly label: string }) {
  if (count === 0) return null;
  return (
    <span className={styles.badge} role="img" aria-label={label}>
      {count > 99 ? '99+' : count}
    </span>
  );
}
