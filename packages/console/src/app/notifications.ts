import { useEffect, useRef } from 'react';
import { useInboxCounts } from '../api/inbox-counts.ts';
import { count } from '../lib/amounts.ts';
import { announce } from './announcer.tsx';

const WANTED = 'custos-notifications';

export type NotificationState = 'on' | 'off' | 'refused' | 'impossible';

/** Browser notifications: on request only. */
export function notificationState(): NotificationState {
  if (typeof Notification === 'undefined') return 'impossible';
  if (Notification.permission === 'denied') return 'refused';
  return Notification.permission === 'granted' && localStorage.getItem(WANTED) === 'on' ? 'on' : 'off';
}

export async function turnOnNotifications(): Promise<NotificationState> {
  if (typeof Notification === 'undefined') return 'impossible';
  if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(WANTED, 'on');
  return notificationState();
}

export const turnOffNotifications = (): void => localStorage.removeItem(WANTED);

/** Says when more requests wait than before: politely on the page, and beside it if the page is not looked at. */
export function useNewsOfInbox(): void {
  const { forMe, isKnown } = useInboxCounts();
  const before = useRef<number>(undefined);
  useEffect(() => {
    if (!isKnown) return;
    const isMore = before.current !== undefined && forMe > before.current;
    before.current = forMe;
    if (!isMore) return;
    const text = `${count(forMe, 'request waits', 'requests wait')} for you.`;
    announce(text);
    if (document.visibilityState === 'visible' || notificationState() !== 'on') return;
    // No sentence: a lock screen shows this to anybody who passes by.
    const note = new Notification('Custos', { body: text, tag: 'custos-inbox' });
    note.onclick = () => {
      window.focus();
      note.close();
    };
  }, [forMe, isKnown]);
}
