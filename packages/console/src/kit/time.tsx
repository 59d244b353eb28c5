import { useNow } from '../app/now.ts';
import { cx } from '../lib/cx.ts';
import { clock, clockMinutes, day, exact, relative, type TimeLike, timeLeft, utc } from '../lib/time.ts';
import styles from './time.module.css';

export interface TimeProps {
  readonly time: TimeLike;
  /** "14 min ago" unless told. */
  readonly shape?: 'relative' | 'clock' | 'minutes' | 'day' | 'exact';
  /** In rows that have their own focus: the exact time on hover alone, no tab stop. */
  readonly inRow?: boolean;
  readonly className?: string | undefined;
}

const SHAPES = { clock, minutes: clockMinutes, day, exact } as const;

/** Relative, exact on focus and hover; `datetime` is UTC. */
export function Time({ time, shape = 'relative', inRow = false, className }: TimeProps) {
  const now = useNow();
  // What happened since the last tick is past already.
  const text = shape === 'relative' ? relative(time, Math.max(now, Date.now())) : SHAPES[shape](time);
  const whole = exact(time);
  if (inRow || shape === 'exact') {
    return (
      <time className={cx(styles.row, className)} dateTime={utc(time)} title={whole}>
        {text}
      </time>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time must be reachable without a pointer
    <time className={cx(styles.time, className)} dateTime={utc(time)} tabIndex={0}>
      {text}
      <span className={styles.exact}>{whole}</span>
    </time>
  );
}

/** "23 h 46 min left", amber in the last hour. Never a ticking countdown: it changes once a minute. */
export function TimeLeft({ until, strong = false }: { readonly until: TimeLike; readonly strong?: boolean }) {
  const { text, isShort } = timeLeft(until, useNow());
  return (
    <time dateTime={utc(until)} title={exact(until)} className={cx(isShort ? styles.short : strong && styles.strong)}>
      {text}
    </time>
  );
}
