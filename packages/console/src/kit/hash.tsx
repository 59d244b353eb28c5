import { shortHash } from '../lib/addresses.ts';
import { CopyButton } from './copy-button.tsx';
import styles from './hash.module.css';

export interface HashProps {
  readonly value: string;
  /** "activity id", "digest": for the copy button's name. */
  readonly what?: string;
  readonly whole?: boolean;
  readonly copy?: boolean;
}

/** An id, digest or transaction hash: mono, six and six, copied whole. */
export function Hash({ value, what = 'id', whole = false, copy = true }: HashProps) {
  return (
    <span className={styles.hash}>
      <span className={whole ? styles.whole : styles.text} title={whole ? undefined : value}>
        {whole ? value : shortHash(value)}
      </span>
      {copy && <CopyButton text={value} label={`Copy the ${what}`} />}
    </span>
  );
}
