import { type ReactNode, useId } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './card.module.css';

export interface CardProps {
  /** Its heading (h2); names the region. */
  readonly title?: ReactNode;
  /** Grey, after the heading: "5, and 1 invited". */
  readonly detail?: ReactNode;
  /** At the right of the heading. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
  readonly footer?: ReactNode;
  /** Without padding around the children, for tables and lists. */
  readonly flush?: boolean;
  readonly tone?: 'deny' | 'allow';
  readonly level?: 2 | 3;
  readonly className?: string | undefined;
}

export function Card(props: CardProps) {
  const { title, detail, actions, children, footer, flush = false, tone, level = 2, className } = props;
  const id = useId();
  const Heading = level === 2 ? 'h2' : 'h3';
  return (
    <section
      className={cx(styles.card, tone && styles[tone], className)}
      {...(title !== undefined && { 'aria-labelledby': id })}
    >
      {(title !== undefined || actions !== undefined) && (
        <header className={styles.header}>
          <div className={styles.titles}>
            {title !== undefined && <Heading id={id}>{title}</Heading>}
            {detail !== undefined && <span className={styles.detail}>{detail}</span>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      {children !== undefined && <div className={flush ? styles.flush : styles.body}>{children}</div>}
      {footer !== undefined && <footer className={styles.footer}>{footer}</footer>}
    </section>
  );
}
