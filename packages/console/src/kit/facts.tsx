import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './facts.module.css';

export interface FactsProps {
  readonly children: ReactNode;
  /** Values at the right edge, without lines: sums and fees. */
  readonly shape?: 'rows' | 'sums';
  readonly className?: string | undefined;
}

/** Rows of a name and what it is. Holds `Fact`s. */
export function Facts({ children, shape = 'rows', className }: FactsProps) {
  return <dl className={cx(styles.facts, styles[shape], className)}>{children}</dl>;
}

export interface FactProps {
  readonly label: ReactNode;
  readonly children: ReactNode;
  /** Who vouches for it, under the value. */
  readonly note?: ReactNode;
}

export function Fact({ label, children, note }: FactProps) {
  return (
    <div className={styles.fact}>
      <dt>{label}</dt>
      <dd>
        {children}
        {note !== undefined && <p className={styles.note}>{note}</p>}
      </dd>
    </div>
  );
}
