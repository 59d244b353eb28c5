import { shortAddress } from '../lib/addresses.ts';
import { cutDecimals, formatUnits, isUnlimited } from '../lib/amounts.ts';
import { cx } from '../lib/cx.ts';
import styles from './amount.module.css';

export interface AmountProps {
  /** Of the smallest unit. */
  readonly value: bigint | string;
  /** Unknown decimals are said to be unknown. */
  readonly decimals: number | undefined;
  /** "ETH"; for unknown decimals the asset's address or name. */
  readonly unit: string;
  /** Lists cut after six decimals; decisions show all. */
  readonly shape?: 'list' | 'decision';
  readonly strong?: boolean;
}

export function Amount({ value, decimals, unit, shape = 'list', strong = false }: AmountProps) {
  const whole = typeof value === 'bigint' ? value : /^-?[0-9]+$/.test(value) ? BigInt(value) : undefined;
  if (whole === undefined) return <span className={styles.amount}>unknown amount of {unit}</span>;
  if (isUnlimited(whole)) return <span className={cx(styles.amount, styles.unlimited)}>unlimited {unit}</span>;
  if (decimals === undefined) {
    return (
      <span className={styles.amount}>
        {whole.toString()} of the smallest unit of <span title={unit}>{shortAddress(unit)}</span>
      </span>
    );
  }
  const exact = formatUnits(whole, decimals);
  return (
    <span
      className={cx(styles.amount, strong && styles.strong)}
      title={shape === 'list' ? `${exact} ${unit}` : undefined}
    >
      {shape === 'list' ? cutDecimals(exact) : exact} {unit}
    </span>
  );
}
