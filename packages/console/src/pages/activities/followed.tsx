import type { Activity } from '@custos/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useChains } from '../../api/chains.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../app/now.ts';
import { Card } from '../../kit/card.tsx';
import { Icon } from '../../kit/icon.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { shortHash } from '../../lib/addresses.ts';
import { count } from '../../lib/amounts.ts';
import { plainSentence, type Send, stateOf } from '../sends/send-model.ts';
import { type Delivery, lastAnswer, STATES } from '../webhooks/delivery-model.ts';
import styles from './activities.module.css';

/** What the activity led to: transactions on their way, and who was told of it. */
export function Followed({ activity }: { readonly activity: Activity }) {
  return (
    <Card title="What followed">
      <ul className={styles.follows}>
        <Sends activityId={activity.id} />
        <Deliveries activityId={activity.id} />
      </ul>
    </Card>
  );
}

function Sends({ activityId }: { readonly activityId: string }) {
  const { data, error } = useApi('listSends', { activityId });
  if (error !== null) return <Line icon="send">Its sends could not be read: {problemOf(error).title}</Line>;
  if (data === undefined) return null;
  if (data.sends.length === 0) return <Line icon="send">Nothing was sent to a chain</Line>;
  return data.sends.map((send) => <SendLine key={send.sendTransactionStatusId} send={send} />);
}

function SendLine({ send }: { readonly send: Send }) {
  const navigate = useNavigate();
  const chains = useChains().data?.chains ?? [];
  const { tone, text } = stateOf(send, chains);
  const href = `/console/sends?send=${send.sendTransactionStatusId}`;
  return (
    <Line icon="send">
      <a
        href={href}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          void navigate({ href });
        }}
      >
        {send.txHash === undefined ? plainSentence(send, chains) : shortHash(send.txHash)}
      </a>
      <StatusMark tone={tone} bare>
        {text}
      </StatusMark>
    </Line>
  );
}

const SHOWN = 20;

function Deliveries({ activityId }: { readonly activityId: string }) {
  const parameters = { filterByActivityId: activityId, paginationOptions: { limit: String(SHOWN) } };
  const { data, error } = useApi('listWebhookDeliveries', parameters);
  const endpoints = useApi('listWebhookEndpoints');
  if (error !== null) return <Line icon="webhook">Its deliveries could not be read: {problemOf(error).title}</Line>;
  if (data === undefined) return null;
  const { webhookDeliveries: deliveries, pageInfo } = data;
  if (deliveries.length === 0) return <Line icon="webhook">No webhook was told of it</Line>;
  const nameOf = (endpointId: string): string | undefined =>
    endpoints.data?.webhookEndpoints.find((endpoint) => endpoint.endpointId === endpointId)?.name;
  return (
    <>
      {byEndpoint(deliveries).map(([endpointId, told]) => (
        <DeliveryLine key={endpointId} endpointId={endpointId} name={nameOf(endpointId)} deliveries={told} />
      ))}
      {pageInfo.hasNextPage && <Line icon="webhook">and more than {SHOWN} deliveries in all</Line>}
    </>
  );
}

function byEndpoint(deliveries: readonly Delivery[]): readonly (readonly [string, readonly Delivery[]])[] {
  const found = new Map<string, Delivery[]>();
  for (const delivery of deliveries)
    found.set(delivery.endpointId, [...(found.get(delivery.endpointId) ?? []), delivery]);
  return [...found];
}

interface DeliveryLineProps {
  readonly endpointId: string;
  /** Undefined where the endpoint is gone. */
  readonly name: string | undefined;
  readonly deliveries: readonly Delivery[];
}

/** One endpoint, with how its newest delivery went. */
function DeliveryLine({ endpointId, name, deliveries }: DeliveryLineProps) {
  const now = useNow();
  const [newest] = deliveries;
  if (newest === undefined) return null;
  const { tone, word } = STATES[newest.state];
  return (
    <Line icon="webhook">
      <span>
        {count(deliveries.length, 'delivery', 'deliveries')} to{' '}
        {name === undefined ? (
          'an endpoint that is gone'
        ) : (
          <Link to="/webhooks/$endpointId" params={{ endpointId }}>
            “<bdi>{name}</bdi>”
          </Link>
        )}
      </span>
      <StatusMark tone={tone} bare>
        {word}: {lastAnswer(newest, now)}
      </StatusMark>
    </Line>
  );
}

function Line({ icon, children }: { readonly icon: 'send' | 'webhook'; readonly children: ReactNode }) {
  return (
    <li className={styles.follow}>
      <Icon name={icon} />
      {children}
    </li>
  );
}
