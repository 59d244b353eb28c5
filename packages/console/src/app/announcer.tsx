import { Hidden } from '../kit/hidden.tsx';
import { createStore, useStore } from '../lib/store.ts';

const PAUSE_MS = 5000;
const spoken = createStore('');
let lastAt = Number.NEGATIVE_INFINITY;
let timer: ReturnType<typeof setTimeout> | undefined;
let next: string | undefined;

/** Says something politely, at most once in five seconds; of several in between the last counts. */
export function announce(message: string): void {
  next = message;
  if (timer !== undefined) return;
  timer = setTimeout(
    () => {
      timer = undefined;
      lastAt = performance.now();
      // The same words again are news only if the region changes.
      spoken.set(spoken.get() === next ? `${next} ` : (next ?? ''));
      next = undefined;
    },
    Math.max(0, lastAt + PAUSE_MS - performance.now()),
  );
}

export function Announcer() {
  const message = useStore(spoken);
  return (
    <div role="status" aria-live="polite">
      <Hidden>{message}</Hidden>
    </div>
  );
}
