import styles from './skeleton.module.css';

export interface SkeletonProps {
  readonly rows?: number;
  readonly shape?: 'rows' | 'text' | 'cards';
  /** What is loading, for screen readers. */
  readonly label?: string;
}

/** The shape of what comes. Appears after 200 ms: most answers are there before. */
export function Skeleton({ rows = 6, shape = 'rows', label = 'Loading' }: SkeletonProps) {
  return (
    <div className={styles.skeleton} role="status" aria-label={label} data-loading="">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: nothing but positions
        <div key={index} className={styles[shape]}>
          <span style={{ width: `${62 - ((index * 17) % 30)}%` }} />
          {shape === 'rows' && <span style={{ width: `${34 - ((index * 11) % 16)}%` }} />}
        </div>
      ))}
    </div>
  );
}
