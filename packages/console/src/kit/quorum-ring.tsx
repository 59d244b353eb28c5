import { cx } from '../lib/cx.ts';
import { initialsOf } from '../lib/text.ts';
import styles from './quorum-ring.module.css';
import { arc } from './ring.ts';

export interface QuorumPerson {
  readonly userId: string;
  readonly userName: string;
  readonly isProgram?: boolean;
  /** Not seen for 30 days: drawn dashed. */
  readonly isAway?: boolean;
  /** Instead of the initials, such as "you". */
  readonly text?: string;
}

export interface QuorumRingProps {
  readonly threshold: number;
  readonly people: readonly QuorumPerson[];
  /** The name under the numbers, such as "root quorum". */
  readonly caption?: string;
  readonly tone?: 'ink' | 'deny';
  readonly size?: 'small' | 'normal';
}

const SHOWN_MAX = 12;

/** The seal with people on it: as much of the ring is filled as people must agree. */
export function QuorumRing({ threshold, people, caption, tone = 'ink', size = 'normal' }: QuorumRingProps) {
  const shown = people.slice(0, SHOWN_MAX);
  const box = size === 'small' ? 152 : 232;
  const center = box / 2;
  const mark = size === 'small' ? 19 : 24;
  const radius = center - mark - 3;
  const width = size === 'small' ? 5 : 7;
  const total = Math.max(1, people.length);
  const label = `${threshold} of ${people.length}${caption ? `, ${caption}` : ''}: ${people.map(({ userName }) => userName).join(', ')}`;
  return (
    <svg
      className={cx(styles.ring, styles[tone])}
      width={box}
      height={box}
      viewBox={`0 0 ${box} ${box}`}
      role="img"
      aria-label={label}
    >
      <circle className={styles.open} cx={center} cy={center} r={radius} strokeWidth={width} />
      <path className={styles.given} d={arc(center, radius, 0, Math.min(1, threshold / total))} strokeWidth={width} />
      <text
        className={styles.count}
        x={center}
        y={center + (caption ? -2 : 2)}
        dy="0.2em"
        fontSize={size === 'small' ? 20 : 29}
      >
        {threshold} of {people.length}
      </text>
      {caption && (
        <text
          className={styles.caption}
          x={center}
          y={center + (size === 'small' ? 20 : 28)}
          fontSize={size === 'small' ? 11 : 13}
        >
          {caption}
        </text>
      )}
      {shown.map((person, index) => {
        // The first sits in the middle of the first arc, so that the fill ends between two people.
        const angle = ((index + (total === 1 ? 0 : 0.5)) / shown.length) * 2 * Math.PI - Math.PI / 2;
        const x = center + radius * Math.cos(angle);
        const y = center + radius * Math.sin(angle);
        return (
          <g key={person.userId} className={cx(styles.person, person.isAway && styles.away)}>
            {person.isProgram ? (
              <rect x={x - mark + 2} y={y - mark + 2} width={2 * mark - 4} height={2 * mark - 4} rx="6" />
            ) : (
              <circle cx={x} cy={y} r={mark - 1} />
            )}
            <text x={x} y={y} dy="0.36em" fontSize={size === 'small' ? 10.5 : 13}>
              {person.text ?? initialsOf(person.userName)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
