import type { ReactNode } from 'react';
import styles from './dialog-footer.module.css';

/** The last row of a dialog that acts: what leads elsewhere at the left, the way out and the act at the right. */
export const DialogFooter = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.footer}>{children}</div>
);
