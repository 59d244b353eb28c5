import { useState } from 'react';
import { notificationState, turnOffNotifications, turnOnNotifications } from '../../app/notifications.ts';
import { Icon } from '../../kit/icon.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import styles from './inbox.module.css';

const TEXTS = {
  on: 'This browser tells you when something waits.',
  off: 'Know at once when something waits.',
  refused: 'Notifications are blocked for this page. The browser’s settings allow them.',
} as const;

/** Asked for by a click only, never by the page itself. */
export function Notify() {
  const [state, setState] = useState(notificationState);
  if (state === 'impossible') return null;
  return (
    <div className={styles.notify}>
      <p>
        <Icon name="bell" />
        {TEXTS[state]}
      </p>
      {state === 'off' && (
        <LinkButton onClick={() => void turnOnNotifications().then(setState)}>Turn on browser notifications</LinkButton>
      )}
      {state === 'on' && (
        <LinkButton
          onClick={() => {
            turnOffNotifications();
            setState(notificationState());
          }}
        >
          Turn them off
        </LinkButton>
      )}
    </div>
  );
}
