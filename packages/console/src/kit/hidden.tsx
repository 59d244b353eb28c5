import type { ReactNode } from 'react';
import styles from './hidden.module.css';

/** For screen readers only. */
export function Hidden({ children, id }: { readonly children: ReactNode; readonly id?: string }) {
  return (
    <span className={styles.hidden} {...(id !== undefined && { id })}>
      {children}
    </span>
  );
}
