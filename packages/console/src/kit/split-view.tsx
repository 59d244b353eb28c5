import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './split-view.module.css';

export interface SplitSideProps {
  /** The opened one; scrolls. */
  readonly sheet?: ReactNode;
  /** 64 high at the foot of the sheet, always visible. */
  readonly bar?: ReactNode;
}

export interface SplitViewProps extends SplitSideProps {
  /** 396 wide: filter, list, keys. */
  readonly list: ReactNode;
  /** In place of sheet and bar: an element that renders `SplitSide`, so that it can be mounted anew without the list. */
  readonly side?: ReactNode;
  /** On phones one of both is shown. */
  readonly isOpen: boolean;
  /** The accessible name of the sheet. */
  readonly label: string;
}

export function SplitView({ list, sheet, bar, side, isOpen, label }: SplitViewProps) {
  return (
    <div className={cx(styles.split, isOpen && styles.open)}>
      <div className={styles.list}>{list}</div>
      <section className={styles.side} aria-label={label}>
        {side ?? <SplitSide sheet={sheet} bar={bar} />}
      </section>
    </div>
  );
}

export function SplitSide({ sheet, bar }: SplitSideProps) {
  return (
    <>
      <div className={styles.sheet} data-scroll="">
        {sheet}
      </div>
      {bar !== undefined && <div className={styles.bar}>{bar}</div>}
    </>
  );
}
