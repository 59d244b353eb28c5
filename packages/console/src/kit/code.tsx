import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './code.module.css';
import { CopyButton } from './copy-button.tsx';

export interface CodeProps {
  readonly text: string;
  /** `json` and `sdk` are coloured; `plain` and `shell` are not. */
  readonly language?: 'plain' | 'json' | 'sdk' | 'shell';
  /** The accessible name of the copy button; `false` for none. */
  readonly copy?: string | false;
  /** Longer texts scroll. */
  readonly maxHeight?: number;
  readonly tone?: 'sunken' | 'surface';
}

const TOKENS = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(\s*:)?|(\b-?[0-9]+(?:\.[0-9]+)?\b)|(\.[a-zA-Z]+(?=\())/g;
/** Colouring longer texts would cost more than it tells. */
const COLOURED_MAX = 40_000;

/** Wraps, and is copied exactly. */
export function Code({ text, language = 'plain', copy = 'Copy', maxHeight, tone = 'sunken' }: CodeProps) {
  const isColoured = (language === 'json' || language === 'sdk') && text.length <= COLOURED_MAX;
  return (
    <div className={cx(styles.frame, styles[tone])}>
      <pre className={styles.code} {...(maxHeight !== undefined && { style: { maxHeight }, tabIndex: 0 })}>
        <code>{isColoured ? coloured(text) : text}</code>
      </pre>
      {copy !== false && <CopyButton className={styles.copy} text={text} label={copy} />}
    </div>
  );
}

/** Strings plot 2, numbers plot 3, functions accent; names of members stay ink. */
function coloured(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [whole, string, colon, number] = match;
    parts.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (string !== undefined && colon !== undefined) parts.push(whole);
    else {
      const style = string !== undefined ? styles.string : number !== undefined ? styles.number : styles.call;
      parts.push(
        <span key={match.index} className={style}>
          {whole}
        </span>,
      );
    }
  }
  parts.push(text.slice(from));
  return parts;
}
