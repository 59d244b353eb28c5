import { createStore, useStore } from '../lib/store.ts';

const SWITCH = 'custos-notifications';

export type NotificationState = 'impossible' | 'off' | 'on' | 'blocked';

function read(): NotificationState {
  if (!('Notification' in globalThis) || !isSecureContext) return 'impossible';
  if (Notification.permission === 'denied') return 'blocked';
  if (Notification.permission !== 'granted') return 'off';
  try {
    return localStorage.getItem(SWITCH) === 'on' ? 'on' : 'off';
  } catch {
    return 'off';
  }
}

const state = createStore<NotificationState>(read());

export const useNotificationState = (): NotificationState => useStore(state);

/** Asks the browser, which asks the person. */
export async function turnOnNotifications(): Promise<void> {
  const permission = await Notification.requestPermission();
  if (permission === 'granted') localStorage.setItem(SWITCH, 'on');
  state.set(read());
}

export function turnOffNotifications(): void {
  localStorage.removeItem(SWITCH);
  state.set(read());
}

/** Says that something waits. What it is stays on the page: a lock screen shows notifications to everybody. */
export function notifyWaiting(count: number, onOpen: () => void): void {
  if (state.get() !== 'on' || document.visibilityState === 'visible') return;
  const body = count === 1 ? 'One request waits for your approval.' : `${count} requests wait for your approval.`;
  const notification = new Notification('Custos', { body, tag: 'custos-inbox' });
  notification.onclick = () => {
    globalThis.focus();
    notification.close();
    onOpen();
  };
}
