import type { Activity } from '@custos/sdk';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/use-api.ts';
import { Card } from '../../kit/card.tsx';
import { Icon } from '../../kit/icon.tsx';
import { StatusMark } from '../../kit/status-mark.tsx';
import { shortHash } from '../../lib/addresses.ts';
import { plainType } from '../../lib/text.ts';
import styles from './activities.module.css';

/** What the activity led to: transactions on their way, and who was told. */
export function Followed({ activity }: { readonly activity: Activity }) {
  const sends = useApi('listSends', { activityId: activity.id });
  const endpoints = useApi('listWebhookEndpoints', {});
  const found = sends.data?.sends ?? [];
  const told = (endpoints.data?.webhookEndpoints ?? []).filter(
    ({ isActive, subscriptions }) =>
      isActive && subscriptions.some(({ eventType, isActive: isOn }) => eventType === 'ACTIVITY_UPDATES' && isOn),
  );
  return (
    <Card title="What followed">
      <ul className={styles.follows}>
        {found.map((send) => (
          <li key={send.sendTransactionStatusId} className={styles.follow}>
            <Icon name="send" />
            <Link to="/sends">{send.txHash === undefined ? 'A transaction' : shortHash(send.txHash)}</Link>
            <StatusMark tone="plain" icon={false}>
              {plainType(send.state).toLowerCase()}
            </StatusMark>
          </li>
        ))}
        {sends.data !== undefined && found.length === 0 && (
          <li className={styles.follow}>
            <Icon name="send" /> Nothing was sent to a chain
          </li>
        )}
        {told.map(({ endpointId, name }) => (
          <li key={endpointId} className={styles.follow}>
            <Icon name="webhook" />
            <span>
              Changes go to webhook{' '}
              <Link to="/webhooks/$endpointId" params={{ endpointId }}>
                “<bdi>{name}</bdi>”
              </Link>
            </span>
          </li>
        ))}
        {endpoints.data !== undefined && told.length === 0 && (
          <li className={styles.follow}>
            <Icon name="webhook" /> No webhook is told of activities
          </li>
        )}
      </ul>
    </Card>
  );
}
