import { turnOffNotifications, turnOnNotifications, useNotificationState } from '../../api/notifications.ts';
import { Icon } from '../../kit/icon.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import styles from './inbox.module.css';

/** Asked for by a click only, never by the page itself. */
export function Notify() {
  const state = useNotificationState();
  if (state === 'impossible') return null;
  return (
    <div className={styles.notify}>
      <p>
        <Icon name="bell" />
        {state === 'on'
          ? 'This browser tells you when something waits.'
          : state === 'blocked'
            ? 'Notifications are blocked for this page. The browser’s settings allow them.'
            : 'Know at once when something waits.'}
      </p>
      {state === 'off' && (
        <LinkButton onClick={() => void turnOnNotifications()}>Turn on browser notifications</LinkButton>
      )}
      {state === 'on' && <LinkButton onClick={turnOffNotifications}>Turn them off</LinkButton>}
    </div>
  );
}
