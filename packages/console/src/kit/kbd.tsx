import type { ReactNode } from 'react';
import styles from './kbd.module.css';

export function Kbd({ children }: { readonly children: ReactNode }) {
  return <kbd className={styles.kbd}>{children}</kbd>;
}

export interface KeyHintsProps {
  /** Keys and what they do: `[['J', 'K'], 'move']`. */
  readonly hints: readonly (readonly [readonly string[], string])[];
}

/** The row of keys at the foot of a list. Not on phones. */
export function KeyHints({ hints }: KeyHintsProps) {
  return (
    <p className={styles.hints}>
      {hints.map(([keys, text]) => (
        <span key={text}>
          {keys.map((key) => (
            <Kbd key={key}>{key}</Kbd>
          ))}{' '}
          {text}
        </span>
      ))}
    </p>
  );
}
