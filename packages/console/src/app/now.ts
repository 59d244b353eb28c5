import { createStore, useStore } from '../lib/store.ts';

const TICK_MS = 15_000;
const now = createStore(Date.now());

// One timer for every time on the page; nothing counts down by the second.
setInterval(() => {
  if (document.visibilityState === 'visible') now.set(Date.now());
}, TICK_MS);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') now.set(Date.now());
});

/** The time now, to some seconds. */
export const useNow = (): number => useStore(now);
