import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../app/now.ts';
import { Asked } from '../../kit/asked.tsx';
import { Card } from '../../kit/card.tsx';
import { Bars } from '../../kit/plot.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { count, withThousands } from '../../lib/amounts.ts';
import { fillBuckets, RANGES, type Range, sinceOf, successRate } from './delivery-model.ts';
import styles from './webhooks.module.css';

const hourFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const ITEMS = (Object.keys(RANGES) as Range[]).map((id) => ({ id, label: id }));

/** Success over time, in words first. */
export function StatisticsCard({ endpointId }: { readonly endpointId: string }) {
  const [range, setRange] = useState<Range>('24 h');
  const sinceMs = sinceOf(range, useNow());
  const { bucketMs, words } = RANGES[range];
  const query = useApi(
    'getWebhookStatistics',
    { endpointId, sinceMs: String(sinceMs), bucketMs: String(bucketMs) },
    { keepsPrevious: true },
  );
  const format = range === '24 h' ? hourFormat : dayFormat;
  return (
    <Card>
      <Asked query={query} rows={2} shape="text">
        {({ buckets, succeeded, failed, waiting, failedForGood }) => (
          <>
            <div className={styles.summary}>
              <p>
                {succeeded + failed === 0 ? (
                  <b>Nothing was sent</b>
                ) : (
                  <b>{successRate(succeeded, failed)} of attempts succeeded</b>
                )}
                in {words} · {withThousands(String(succeeded))} of {withThousands(String(succeeded + failed))};{' '}
                {count(waiting, 'delivery waits', 'deliveries wait')}, {failedForGood} failed for good
                <span className={styles.meta}>A replayed delivery counts from its replay.</span>
              </p>
              <Segmented label="Time" items={ITEMS} value={range} onChange={setRange} />
            </div>
            <Bars
              label={`Attempts in ${words}`}
              buckets={fillBuckets(buckets, sinceMs, range)}
              formatTime={(time) => format.format(new Date(time))}
            />
          </>
        )}
      </Asked>
    </Card>
  );
}
