import { Card } from '../../kit/card.tsx';
import { Plot } from '../../kit/plot.tsx';
import { clockMinutes } from '../../lib/time.ts';
import styles from './operations.module.css';
import type { Point, Reading } from './rates.ts';

const rate = (value: number): string => (value >= 10 || value === 0 ? String(Math.round(value)) : value.toFixed(1));
const millis = (ms: number): string => (ms >= 100 ? String(Math.round(ms)) : ms.toFixed(1).replace(/\.0$/, ''));
const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000);

/** What happened since the page was opened. */
export function Plots({ points, reading }: { readonly points: readonly Point[]; readonly reading: Reading }) {
  const last = points.at(-1);
  const times = points.map(({ atMs }) => atMs);
  const shared = { times, formatTime: (time: number) => clockMinutes(time) };
  const p95 = toMs(points.findLast((point) => point.p95 !== undefined)?.p95);
  return (
    <div className={styles.plots}>
      <Card>
        <Plot
          {...shared}
          title="Requests"
          value={last?.requests === undefined ? '–' : rate(last.requests)}
          unit={last?.requests === undefined ? 'after the second reading' : 'per second'}
          formatValue={rate}
          lines={[
            { name: 'all', tone: 'accent', values: points.map(({ requests }) => requests) },
            { name: '5xx', tone: 'deny', values: points.map(({ errors }) => errors) },
          ]}
        />
      </Card>
      <Card>
        <Plot
          {...shared}
          title="Time to answer"
          value={p95 === undefined ? '–' : millis(p95)}
          unit="ms, 95 of 100"
          formatValue={(value) => `${millis(value)} ms`}
          lines={[
            { name: 'p50', tone: 'plot-2', values: points.map(({ p50 }) => toMs(p50)) },
            { name: 'p95', tone: 'accent', values: points.map((point) => toMs(point.p95)) },
            { name: 'p99', tone: 'plot-3', values: points.map(({ p99 }) => toMs(p99)) },
          ]}
        />
      </Card>
      <Card>
        <Plot
          {...shared}
          title="Waiting in queues"
          isCount
          height={84}
          value={last?.waiting ?? '–'}
          unit={reading.queues.map(({ name, waiting, isMore }) => `${name} ${waiting}${isMore ? '+' : ''}`).join(', ')}
          formatValue={rate}
          lines={[{ name: 'waiting', values: points.map(({ waiting }) => waiting) }]}
        />
      </Card>
      <Card>
        <Plot
          {...shared}
          title="Signatures"
          height={84}
          value={last?.signatures === undefined ? '–' : rate(last.signatures)}
          unit="per second"
          formatValue={rate}
          lines={[{ name: 'signatures', tone: 'plot-2', values: points.map(({ signatures }) => signatures) }]}
        />
      </Card>
    </div>
  );
}
