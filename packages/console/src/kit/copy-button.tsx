import { useEffect, useState } from 'react';
import { announce } from '../app/announcer.tsx';
import { cx } from '../lib/cx.ts';
import styles from './copy-button.module.css';
import { Icon } from './icon.tsx';

export interface CopyButtonProps {
  readonly text: string;
  /** Its accessible name: "Copy the address". */
  readonly label: string;
  /** Shown as a word instead of an icon. */
  readonly word?: string;
  readonly className?: string | undefined;
}

const SHOWN_MS = 2000;

/** Copies all of it, however short it is shown. */
export function CopyButton({ text, label, word, className }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setOutcome('copied');
        announce('Copied.');
      },
      () => {
        setOutcome('refused');
        announce('The browser did not allow copying.');
      },
    );
  };
  return (
    <button
      type="button"
      className={cx(word === undefined ? styles.icon : styles.word, className)}
      aria-label={label}
      title={outcome === 'refused' ? 'The browser did not allow copying' : label}
      onClick={(event) => {
        event.stopPropagation();
        copy();
      }}
    >
      {word === undefined ? (
        <Icon name={outcome === 'copied' ? 'check' : outcome === 'refused' ? 'cross' : 'copy'} size={14} />
      ) : outcome === 'copied' ? (
        'Copied'
      ) : (
        word
      )}
    </button>
  );
}
