import { useState } from 'react';
import type { Description, PolicyText } from '../../api/types.ts';
import { Card } from '../../kit/card.tsx';
import { Hidden } from '../../kit/hidden.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { count } from '../../lib/amounts.ts';
import { cx } from '../../lib/cx.ts';
import { type DiffLine, diffLines, expressionLines } from '../../lib/diff.ts';
import styles from './policy-diff.module.css';

type View = 'diff' | 'before' | 'after';

const EXPRESSIONS = [
  ['condition', 'Condition'],
  ['consensus', 'Consensus'],
  ['time', 'Time'],
] as const satisfies readonly (readonly [keyof PolicyText, string])[];

/** What a policy says today and would say: the whole stored text, with what differs marked. */
export function PolicyDiff({ change }: { readonly change: NonNullable<Description['policyChange']> }) {
  const { before, after } = change;
  const shown = EXPRESSIONS.filter(([name]) => (before?.[name] ?? '') !== '' || (after?.[name] ?? '') !== '');
  return (
    <>
      {before !== undefined && after !== undefined && before.effect !== after.effect && (
        <Card title="Effect">
          <p>
            {effectWord(before.effect)} becomes <b>{effectWord(after.effect)}</b>
          </p>
        </Card>
      )}
      {shown.map(([name, title]) => (
        <Expression key={name} title={title} before={before?.[name] ?? ''} after={after?.[name] ?? ''} />
      ))}
    </>
  );
}

const effectWord = (effect: string): string => (effect === 'EFFECT_DENY' ? 'Deny' : 'Allow');

interface ExpressionProps {
  readonly title: string;
  readonly before: string;
  readonly after: string;
}

function Expression({ title, before, after }: ExpressionProps) {
  const [view, setView] = useState<View>('diff');
  const isSame = before === after;
  const [was, will] = [expressionLines(before), expressionLines(after)];
  const lines = view === 'before' || view === 'after' ? plain(view === 'before' ? was : will) : diffLines(was, will);
  const changed = diffLines(was, will);
  return (
    <Card
      flush
      title={title}
      detail={isSame ? 'unchanged' : changeWords(changed)}
      {...(!isSame &&
        was.length > 0 &&
        will.length > 0 && {
          actions: (
            <Segmented
              label={`${title}: what to show`}
              items={[
                { id: 'diff', label: 'Diff' },
                { id: 'before', label: 'Before' },
                { id: 'after', label: 'After' },
              ]}
              value={view}
              onChange={setView}
            />
          ),
        })}
    >
      {lines.length === 0 ? <p className={styles.none}>Empty: it holds for everything.</p> : <Lines lines={lines} />}
    </Card>
  );
}

function Lines({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    <ol className={styles.lines}>
      {lines.map(({ sign, number, parts }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of two fixed texts
        <li key={index} className={cx(styles.line, sign === '-' && styles.minus, sign === '+' && styles.plus)}>
          <span className={styles.number} aria-hidden="true">
            {number}
          </span>
          <span className={styles.sign}>
            {sign === '-' ? '−' : sign === '+' ? '+' : ''}
            {sign !== ' ' && <Hidden>{sign === '-' ? 'removed:' : 'added:'}</Hidden>}
          </span>
          <code className={styles.code}>
            {parts.map(({ text, isChanged }, part) =>
              isChanged && sign !== ' ' ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of one line
                <mark key={part} className={styles.changed}>
                  {text}
                </mark>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of one line
                <span key={part}>{text}</span>
              ),
            )}
          </code>
        </li>
      ))}
    </ol>
  );
}

const plain = (lines: readonly string[]): readonly DiffLine[] =>
  lines.map((text, index) => ({ sign: ' ', number: index + 1, parts: [{ text, isChanged: false }] }));

/** "1 line changed, 1 removed". */
function changeWords(lines: readonly DiffLine[]): string {
  const removed = lines.filter(({ sign }) => sign === '-').length;
  const added = lines.filter(({ sign }) => sign === '+').length;
  const changed = Math.min(removed, added);
  return [
    changed > 0 && `${count(changed, 'line')} changed`,
    removed > changed && `${removed - changed} removed`,
    added > changed && `${added - changed} added`,
  ]
    .filter(Boolean)
    .join(', ');
}
