import { type ReactNode, useId, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { LinkButton } from './link-button.tsx';
import styles from './plot.module.css';
import { axisOf, pathOf } from './plot-path.ts';

export interface PlotLine {
  readonly name: string;
  readonly tone?: 'accent' | 'plot-2' | 'plot-3' | 'deny';
  /** One value for each of `times`; undefined where there is none. */
  readonly values: readonly (number | undefined)[];
}

export interface PlotProps {
  /** "Requests". */
  readonly title: string;
  /** The newest value in words: "95", and what it is: "per second". */
  readonly value: ReactNode;
  readonly unit?: ReactNode;
  /** At most three; the ground under a single one is filled. */
  readonly lines: readonly PlotLine[];
  readonly times: readonly number[];
  readonly formatValue: (value: number) => string;
  readonly formatTime: (time: number) => string;
  /** What a screen reader hears; without it first, last, least and most. */
  readonly summary?: string;
  readonly height?: number;
  /** Whether values are counted: then the axis has whole numbers alone. */
  readonly isCount?: boolean;
}

const WIDTH = 600;

export function Plot(props: PlotProps) {
  const { title, value, unit, lines, times, formatValue, formatTime, height = 128, isCount = false } = props;
  const [hasTable, setHasTable] = useState(false);
  const id = useId();
  const { max, ticks } = axisOf(
    lines.flatMap(({ values }) => values.filter((one) => one !== undefined)),
    isCount,
  );
  const known = (lines[0]?.values ?? []).filter((one) => one !== undefined);
  const text =
    props.summary ??
    (known.length === 0
      ? `${title}: nothing yet.`
      : `${title}: last ${formatValue(known.at(-1) ?? 0)}, least ${formatValue(Math.min(...known))}, most ${formatValue(Math.max(...known))}.`);
  const shownTimes = [times[0], times[Math.floor((times.length - 1) / 2)]];
  return (
    <figure className={styles.plot} aria-labelledby={id}>
      <figcaption className={styles.head}>
        <div>
          <h2 id={id} className={styles.title}>
            {title}
          </h2>
          <p className={styles.value}>
            <b>{value}</b> {unit}
          </p>
        </div>
        <div className={styles.side}>
          {lines.length > 1 && (
            <ul className={styles.legend}>
              {lines.map(({ name, tone = 'accent' }) => (
                <li key={name} className={styles[tone]}>
                  <span>{name}</span>
                </li>
              ))}
            </ul>
          )}
        </div>
      </figcaption>
      <div className={styles.area}>
        <svg
          className={styles.drawing}
          viewBox={`0 0 ${WIDTH} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={text}
          style={{ height }}
        >
          {ticks.map((tick) => (
            <line
              key={tick}
              className={styles.grid}
              x1="0"
              x2={WIDTH}
              y1={height - (tick / max) * (height - 2)}
              y2={height - (tick / max) * (height - 2)}
            />
          ))}
          {lines.slice(0, 3).map(({ name, tone = 'accent', values }) => {
            const path = pathOf(values, max, WIDTH, height);
            return (
              <g key={name} className={styles[tone]}>
                {lines.filter(({ tone: other }) => other !== 'deny').length === 1 && tone !== 'deny' && path.area && (
                  <path className={styles.fill} d={path.area} />
                )}
                <path className={styles.line} d={path.line} />
              </g>
            );
          })}
        </svg>
        <div className={styles.axis} aria-hidden="true" style={{ height: height + 16 }}>
          {[...ticks].reverse().map((tick) => (
            <span key={tick}>{formatValue(tick)}</span>
          ))}
        </div>
      </div>
      <div className={styles.times} aria-hidden="true">
        {shownTimes.map((time, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two places
          <span key={index}>{time === undefined ? '' : formatTime(time)}</span>
        ))}
        <span>{times.length > 0 ? 'now' : ''}</span>
      </div>
      <LinkButton className={styles.toggle} aria-expanded={hasTable} onClick={() => setHasTable(!hasTable)}>
        {hasTable ? 'Hide the table' : 'As a table'}
      </LinkButton>
      {hasTable && (
        <div className={styles.tableFrame}>
          <table aria-label={title}>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time}>
                  <th scope="row">{formatTime(time)}</th>
                  {lines.map(({ name, values }) => {
                    const one = values[index];
                    return <td key={name}>{one === undefined ? '' : formatValue(one)}</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </figure>
  );
}

export interface BarsProps {
  readonly label: string;
  readonly buckets: readonly { readonly startsAt: string; readonly succeeded: number; readonly failed: number }[];
  readonly formatTime: (time: string) => string;
  readonly height?: number;
}

/** Successes in grey, failures in red: colour means an outcome, and success is the rule. */
export function Bars({ label, buckets, formatTime, height = 60 }: BarsProps) {
  const max = Math.max(1, ...buckets.map(({ succeeded, failed }) => succeeded + failed));
  const sum = (part: 'succeeded' | 'failed'): number => buckets.reduce((total, bucket) => total + bucket[part], 0);
  const middle = buckets[Math.floor(buckets.length / 2)];
  return (
    <figure className={styles.plot}>
      <div
        className={styles.bars}
        role="img"
        aria-label={`${label}: ${sum('succeeded')} succeeded, ${sum('failed')} failed.`}
        style={{ height }}
      >
        {buckets.map(({ startsAt, succeeded, failed }) => (
          <span
            key={startsAt}
            className={styles.bar}
            title={`${formatTime(startsAt)}: ${succeeded} succeeded, ${failed} failed`}
          >
            <span className={styles.good} style={{ height: `${(succeeded / max) * 100}%` }} />
            <span
              className={cx(styles.bad, failed > 0 && styles.some)}
              style={{ height: `${(failed / max) * 100}%` }}
            />
          </span>
        ))}
      </div>
      <div className={styles.times} aria-hidden="true">
        <span>{buckets[0] && formatTime(buckets[0].startsAt)}</span>
        <span>{middle && formatTime(middle.startsAt)}</span>
        <span>now</span>
      </div>
    </figure>
  );
}
