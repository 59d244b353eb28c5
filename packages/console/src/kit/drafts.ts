import { useCallback, useSyncExternalStore } from 'react';
import { onLeaving } from '../lib/leaving.ts';

/**
 * What people have typed, by form. It lives in this tab's memory alone: it survives a session that ends and a page that
 * is left, and leaves no trace on disk. Nothing secret belongs here.
 */
const drafts = new Map<string, unknown>();
const listeners = new Set<() => void>();

const changed = (): void => {
  for (const listener of [...listeners]) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** A form's values, kept until they are sent or discarded. `initial` must be stable. */
export function useDraft<Value extends object>(form: string, initial: Value) {
  const value = useSyncExternalStore(subscribe, () => (drafts.get(form) as Value | undefined) ?? initial);
  const set = useCallback(
    (change: Partial<Value>): void => {
      drafts.set(form, { ...((drafts.get(form) as Value | undefined) ?? initial), ...change });
      changed();
    },
    [form, initial],
  );
  const discard = useCallback((): void => {
    drafts.delete(form);
    changed();
  }, [form]);
  return { value, set, discard, isChanged: drafts.has(form) };
}

// When somebody signs out, what they typed goes with them.
onLeaving(() => {
  drafts.clear();
  changed();
});
