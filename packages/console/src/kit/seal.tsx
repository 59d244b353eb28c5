import { cx } from '../lib/cx.ts';
import { arc } from './ring.ts';
import styles from './seal.module.css';

export type SealTone = 'wait' | 'done' | 'deny';

export interface SealProps {
  readonly given: number;
  readonly required: number;
  /** Green when complete, else amber, unless told. */
  readonly tone?: SealTone;
  readonly size?: 28 | 40 | 48;
  /** Without it "1 of 2 approvals". Empty where text beside it says the same. */
  readonly label?: string;
}

/** How far an agreement is: one arc for each approval that it needs. */
export function Seal({ given, required, tone, size = 28, label }: SealProps) {
  const parts = Math.max(1, Math.min(required, 12));
  const shown = Math.min(given, parts);
  const color = tone ?? (given >= required ? 'done' : 'wait');
  const name = label ?? `${given} of ${required} approvals`;
  const center = size / 2;
  const width = size >= 40 ? 4 : 3;
  const radius = center - width / 2 - 0.5;
  const gap = parts === 1 ? 0 : (width * 0.9) / (2 * Math.PI * radius);
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: named, or hidden where text beside it says the same
    <svg
      className={cx(styles.seal, styles[color])}
      width={size}
      height={size}
      viewBox={`0 0 ${size} ${size}`}
      {...(name === '' ? { 'aria-hidden': true } : { role: 'img', 'aria-label': name })}
    >
      {Array.from({ length: parts }, (_, index) => (
        <path
          // biome-ignore lint/suspicious/noArrayIndexKey: an arc is its position
          key={index}
          className={index < shown ? styles.given : styles.open}
          d={arc(center, radius, index / parts + gap, (index + 1) / parts - gap)}
          strokeWidth={width}
        />
      ))}
      <text x="50%" y="50%" dy="0.36em" fontSize={size === 28 ? 9.5 : size === 40 ? 13 : 15}>
        {given}/{required}
      </text>
    </svg>
  );
}
