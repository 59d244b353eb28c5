import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../app/now.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { Asked } from '../../kit/asked.tsx';
import { Card } from '../../kit/card.tsx';
import { Empty } from '../../kit/empty.tsx';
import { HeaderButton } from '../../kit/header-button.tsx';
import { Page } from '../../kit/page.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Tag } from '../../kit/tag.tsx';
import { count } from '../../lib/amounts.ts';
import { cx } from '../../lib/cx.ts';
import { CreateEndpointDialog } from './create-endpoint-dialog.tsx';
import { type Endpoint, eventWord, RANGES, sinceOf, successRate } from './delivery-model.ts';
import styles from './webhooks.module.css';

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    id: 'name',
    header: 'Endpoint',
    width: '34%',
    cell: ({ endpointId, name, url }) => (
      <>
        <Link to="/webhooks/$endpointId" params={{ endpointId }} className={styles.name}>
          <bdi>{name}</bdi>
        </Link>
        <span className={cx(styles.url, styles.urlInRow)}>
          <bdi>{url}</bdi>
        </span>
      </>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: '10%',
    cell: ({ isActive }) => (
      <StatusMark tone={isActive ? 'allow' : 'plain'} bare>
        {isActive ? 'On' : 'Off'}
      </StatusMark>
    ),
  },
  {
    id: 'events',
    header: 'Events',
    cell: ({ subscriptions }) => (
      <span className={styles.tags}>
        {subscriptions.length === 0 && <span className={styles.quiet}>tests only</span>}
        {subscriptions.map(({ eventType, filtersJson }) => (
          <Tag key={`${eventType} ${filtersJson}`} kind="soft">
            {`${eventWord(eventType)}${filtersJson ? ', filtered' : ''}`}
          </Tag>
        ))}
      </span>
    ),
  },
  {
    id: 'success',
    header: 'Attempts in 24 h',
    align: 'right',
    cell: ({ endpointId }) => <Success endpointId={endpointId} />,
  },
];

export function WebhooksPage() {
  const endpoints = useApi('listWebhookEndpoints', {});
  const [isCreating, setIsCreating] = useState(false);
  const navigate = useNavigate();
  const off = useOffReason();
  const create = (
    <HeaderButton kind="ink" icon="plus" label="Create endpoint" off={off} onClick={() => setIsCreating(true)} />
  );
  const list = endpoints.data?.webhookEndpoints;
  return (
    <Page title="Webhooks" {...(list && { detail: count(list.length, 'endpoint') })} actions={create}>
      <Asked query={endpoints} rows={4}>
        {({ webhookEndpoints }) =>
          webhookEndpoints.length === 0 ? (
            <Empty
              title="No endpoints yet"
              icon="webhook"
              call={`await client.createWebhookEndpoint({\n  url: 'https://ledger.example/custos',\n  name: 'Ledger',\n  subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],\n})`}
            >
              Receivers of events and how well they answer will be listed here. Create an endpoint with the URL of a
              receiver.
            </Empty>
          ) : (
            <Card flush>
              <Table
                label="Endpoints"
                columns={COLUMNS}
                rows={webhookEndpoints}
                rowKey={({ endpointId }) => endpointId}
                onOpen={({ endpointId }) => void navigate({ to: '/webhooks/$endpointId', params: { endpointId } })}
              />
            </Card>
          )
        }
      </Asked>
      {isCreating && <CreateEndpointDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function Success({ endpointId }: { readonly endpointId: string }) {
  const { bucketMs } = RANGES['24 h'];
  const sinceMs = sinceOf('24 h', useNow());
  const { data } = useApi(
    'getWebhookStatistics',
    { endpointId, sinceMs: String(sinceMs), bucketMs: String(bucketMs) },
    { keepsPrevious: true },
  );
  if (data === undefined) return null;
  const rate = successRate(data.succeeded, data.failed);
  if (rate === undefined) return <span className={styles.quiet}>none</span>;
  return (
    <>
      {rate} succeeded
      {data.failedForGood > 0 && <span className={styles.meta}>{data.failedForGood} failed for good</span>}
    </>
  );
}
