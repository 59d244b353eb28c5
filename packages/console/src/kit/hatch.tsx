import type { ReactNode } from 'react';
import styles from './hatch.module.css';
import { Icon } from './icon.tsx';

export interface HatchProps {
  /** "132 bytes, function 0x3d1f9a02 unknown". */
  readonly title?: ReactNode;
  /** The bytes, in hex; shown in groups of four. */
  readonly bytes?: string;
  readonly children?: ReactNode;
}

/** What does not decode is hatched and says so. */
export function Hatch({ title, bytes, children }: HatchProps) {
  return (
    <div className={styles.hatch}>
      {title !== undefined && (
        <p className={styles.title}>
          <Icon name="question" /> <b>{title}</b>
        </p>
      )}
      {bytes !== undefined && (
        // Long bytes scroll, also by the keys.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
        <p className={styles.bytes} tabIndex={0}>
          {bytes.replace(/^0x/, '').replace(/(.{4})(?=.)/gs, '$1 ')}
        </p>
      )}
      {children}
    </div>
  );
}
