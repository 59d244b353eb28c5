import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { changedMeanwhile, type Draft, draftValue, rebased, withChange } from '../lib/draft.ts';
import { onLeaving } from '../lib/leaving.ts';
import { useOrganization } from '../session/organization.ts';

/**
 * What people have typed, by form. It lives in this tab's memory alone: it survives a session that ends and a page that
 * is left, and leaves no trace on disk. Nothing secret belongs here.
 */
const drafts = new Map<string, Draft<object>>();
const listeners = new Set<() => void>();

const changed = (): void => {
  for (const listener of [...listeners]) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

function put(form: string, draft: Draft<object> | undefined): void {
  if (draft === undefined) drafts.delete(form);
  else drafts.set(form, draft);
  changed();
}

export interface KeptDraft<Value extends object> {
  readonly value: Value;
  set(change: Partial<Value>): void;
  discard(): void;
  /** What was stored when the person began; undefined where nothing is changed. */
  readonly base: Value | undefined;
  /** The fields that somebody else changed since then. */
  readonly meanwhile: readonly (keyof Value)[];
  /** Goes on from what is stored now, with the person's changes or with those of the other. */
  rebase(keep: 'mine' | 'theirs'): void;
}

/** What a person changes in a form, kept until it is sent or discarded. `stored` must be stable. */
export function useDraft<Value extends object>(name: string, stored: Value): KeptDraft<Value> {
  // The same form in another organization is another one.
  const form = `${useOrganization().organizationId} ${name}`;
  const draft = useSyncExternalStore(subscribe, () => drafts.get(form)) as Draft<Value> | undefined;
  const set = useCallback(
    (change: Partial<Value>): void =>
      put(form, withChange(drafts.get(form) as Draft<Value> | undefined, stored, change)),
    [form, stored],
  );
  const discard = useCallback((): void => put(form, undefined), [form]);
  const rebase = useCallback(
    (keep: 'mine' | 'theirs'): void => put(form, rebased(drafts.get(form) as Draft<Value> | undefined, stored, keep)),
    [form, stored],
  );
  return {
    value: useMemo(() => draftValue(draft, stored), [draft, stored]),
    set,
    discard,
    base: draft?.base,
    meanwhile: changedMeanwhile(draft, stored),
    rebase,
  };
}

// When somebody signs out, what they typed goes with them.
onLeaving(() => {
  drafts.clear();
  changed();
});
