import type { Risk } from '../api/types.ts';
import { cx } from '../lib/cx.ts';
import { Icon, type IconName } from './icon.tsx';
import styles from './mark.module.css';

interface Shape {
  readonly word: string;
  readonly icon: IconName;
  readonly tone: 'wait' | 'deny' | 'unreadable';
}

const SHAPES: Readonly<Record<Exclude<Risk, 'ROUTINE'>, Shape>> = {
  LOOK_CLOSELY: { word: 'Look closely', icon: 'triangle', tone: 'wait' },
  DANGER: { word: 'Danger', icon: 'octagon', tone: 'deny' },
  UNREADABLE: { word: 'Unreadable', icon: 'question', tone: 'unreadable' },
};

export const riskWord = (risk: Risk): string => (risk === 'ROUTINE' ? 'Routine' : SHAPES[risk].word);

export interface RiskMarkProps {
  readonly risk: Risk;
  /** What makes it so: "first payment to this address". */
  readonly text?: string | undefined;
  /** Routine has no mark unless told. */
  readonly showRoutine?: boolean;
}

/** Word, shape and colour together. */
export function RiskMark({ risk, text, showRoutine = false }: RiskMarkProps) {
  if (risk === 'ROUTINE') return showRoutine ? <span className={cx(styles.mark, styles.plain)}>Routine</span> : null;
  const { word, icon, tone } = SHAPES[risk];
  return (
    <span className={cx(styles.mark, styles[tone])}>
      <Icon name={icon} size={14} />
      <span>
        <b>{word}</b>
        {text !== undefined && text !== '' && <> {text}</>}
      </span>
    </span>
  );
}
