import type { IconName } from '../kit/icon.tsx';

export interface PageEntry {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
}

/** The navigation, in its order. Operations shows only to those who may see it. */
export const MAIN_PAGES: readonly PageEntry[] = [
  { path: '/inbox', name: 'Inbox', icon: 'inbox' },
  { path: '/activities', name: 'Activities', icon: 'activity' },
  { path: '/wallets', name: 'Wallets', icon: 'wallet' },
  { path: '/policies', name: 'Policies', icon: 'shield' },
  { path: '/people', name: 'People', icon: 'people' },
];

export const SERVICE_PAGES: readonly PageEntry[] = [
  { path: '/sub-organizations', name: 'Sub-organizations', icon: 'tree' },
  { path: '/webhooks', name: 'Webhooks', icon: 'webhook' },
  { path: '/sends', name: 'Sends', icon: 'send' },
  { path: '/earn', name: 'Earn', icon: 'trend' },
  { path: '/operations', name: 'Operations', icon: 'bars' },
];
