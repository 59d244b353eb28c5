import styles from './chain-mark.module.css';

/** The letters of a chain's coin in a box. Never a proof of anything, so not read out: text beside it names the chain. */
export function ChainMark({ mark, size = 'normal' }: { readonly mark: string; readonly size?: 'small' | 'normal' }) {
  return (
    <span className={size === 'small' ? styles.small : styles.mark} aria-hidden="true">
      {mark}
    </span>
  );
}
