import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApiPages } from '../../api/use-api.ts';
import { useNow } from '../../app/now.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Attempts } from '../../kit/attempts.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { Skeleton } from '../../kit/skeleton.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { shortHash } from '../../lib/addresses.ts';
import { type Delivery, type DeliveryState, eventWord, isSuccess, lastAnswer, STATES } from './delivery-model.ts';
import styles from './webhooks.module.css';

const FILTERS: readonly { readonly id: DeliveryState | 'all'; readonly label: string }[] = [
  { id: 'all', label: 'All' },
  { id: 'WEBHOOK_DELIVERY_STATE_PENDING', label: 'Waiting' },
  { id: 'WEBHOOK_DELIVERY_STATE_FAILED', label: 'Failed' },
  { id: 'WEBHOOK_DELIVERY_STATE_DEAD_LETTERED', label: 'Given up' },
];

export interface DeliveriesCardProps {
  readonly endpointId: string;
  readonly chosen: string | undefined;
  readonly onChoose: (deliveryId: string) => void;
  readonly onReplayMany: () => void;
}

export function DeliveriesCard({ endpointId, chosen, onChoose, onReplayMany }: DeliveriesCardProps) {
  const [state, setState] = useState<DeliveryState | 'all'>('all');
  const { items, query, hasMore, loadMore } = useApiPages(
    'listWebhookDeliveries',
    { endpointId, ...(state !== 'all' && { state }) },
    ({ webhookDeliveries }) => webhookDeliveries,
    { pageSize: 50 },
  );
  const nowMs = useNow();
  const off = useOffReason();
  const columns: readonly Column<Delivery>[] = [
    {
      id: 'what',
      header: 'What was told',
      cell: (delivery) => (
        <button type="button" className={styles.titleLink} onClick={() => onChoose(delivery.deliveryId)}>
          {eventWord(delivery.eventType)}
          <span className={styles.meta}>event {shortHash(delivery.eventId)}</span>
        </button>
      ),
    },
    {
      id: 'state',
      header: 'State',
      cell: (delivery) => {
        const { tone, word } = STATES[delivery.state];
        return (
          <StatusMark tone={tone} bare strong>
            {word}
          </StatusMark>
        );
      },
    },
    {
      id: 'attempts',
      header: 'Attempts',
      cell: ({ attempts, nextAttemptAt }) => (
        <Attempts
          attempts={attempts.map((attempt) => ({ succeeded: isSuccess(attempt) }))}
          hasNext={nextAttemptAt !== undefined}
        />
      ),
    },
    { id: 'answer', header: 'Last answer', cell: (delivery) => lastAnswer(delivery, nowMs) },
    { id: 'when', header: 'When', align: 'right', cell: ({ createdAt }) => <Time time={createdAt} inRow /> },
  ];
  return (
    <Card
      flush
      title="Deliveries"
      actions={
        <>
          <Segmented label="State" items={FILTERS} value={state} onChange={setState} />
          <Button size="small" off={off} hideReason onClick={onReplayMany}>
            Replay failed since…
          </Button>
        </>
      }
    >
      {query.error && <ProblemNote problem={problemOf(query.error)} onRetry={() => void query.refetch()} />}
      {query.isPending ? (
        <Skeleton rows={5} />
      ) : (
        <Table
          label="Deliveries"
          columns={columns}
          rows={items}
          rowKey={({ deliveryId }) => deliveryId}
          selectedKey={chosen}
          onOpen={({ deliveryId }) => onChoose(deliveryId)}
          empty={
            <Empty
              title={state === 'all' ? 'Nothing was told yet' : 'No such delivery'}
              icon="webhook"
              call={`await client.listWebhookDeliveries({ endpointId: '${endpointId}' })`}
            >
              Each event that this endpoint is told will be listed here, with every attempt and answer. “Send a test”
              tells it one at once.
            </Empty>
          }
        />
      )}
      {hasMore && (
        <div className={styles.more}>
          <Button size="small" busy={query.isFetchingNextPage && 'Loading…'} onClick={loadMore}>
            Show more
          </Button>
        </div>
      )}
    </Card>
  );
}
