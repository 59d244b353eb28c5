import { cx } from '../lib/cx.ts';
import styles from './attempts.module.css';

export interface AttemptsProps {
  readonly attempts: readonly { readonly succeeded: boolean }[];
  /** Another one is due. */
  readonly hasNext?: boolean;
}

const SHOWN_MAX = 16;

/** One bar for each attempt: tall for success, short for failure, outlined for the next. */
export function Attempts({ attempts, hasNext = false }: AttemptsProps) {
  const failed = attempts.filter(({ succeeded }) => !succeeded).length;
  const words = [
    failed > 0 && `${failed} failed`,
    attempts.length > failed && `${attempts.length - failed} succeeded`,
    hasNext && 'one more is due',
  ].filter(Boolean);
  // In the second line of a phone's row an empty picture would leave its separator alone.
  if (attempts.length === 0 && !hasNext) return null;
  return (
    <span className={styles.attempts} role="img" aria-label={`Attempts: ${words.join(', ')}`}>
      {attempts.slice(-SHOWN_MAX).map(({ succeeded }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its position
        <span key={index} className={cx(styles.bar, succeeded ? styles.good : styles.bad)} />
      ))}
      {hasNext && <span className={cx(styles.bar, styles.next)} />}
    </span>
  );
}
