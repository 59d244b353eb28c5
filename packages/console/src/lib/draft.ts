/** What somebody changed in a form, and what was stored when they began. */
export interface Draft<Value extends object> {
  readonly base: Value;
  readonly changes: Partial<Value>;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const keysOf = <Value extends object>(value: Partial<Value>): readonly (keyof Value)[] =>
  Object.keys(value) as (keyof Value)[];

/** What the form shows: what is stored now, with what the person changed. */
export const draftValue = <Value extends object>(draft: Draft<Value> | undefined, stored: Value): Value =>
  draft === undefined ? stored : { ...stored, ...draft.changes };

/** The draft after a change; none where nothing differs any more. */
export function withChange<Value extends object>(
  draft: Draft<Value> | undefined,
  stored: Value,
  change: Partial<Value>,
): Draft<Value> | undefined {
  const base = draft?.base ?? stored;
  const changes = { ...draft?.changes, ...change } as Partial<Value>;
  for (const key of keysOf<Value>(changes)) if (isSame(changes[key], stored[key])) delete changes[key];
  return keysOf<Value>(changes).length === 0 ? undefined : { base, changes };
}

/** The fields that somebody else changed since this draft began. */
export const changedMeanwhile = <Value extends object>(
  draft: Draft<Value> | undefined,
  stored: Value,
): readonly (keyof Value)[] =>
  draft === undefined ? [] : keysOf<Value>(stored).filter((key) => !isSame(draft.base[key], stored[key]));

/** The draft on top of what is stored now. `theirs` gives up the person's changes to what the other one changed. */
export function rebased<Value extends object>(
  draft: Draft<Value> | undefined,
  stored: Value,
  keep: 'mine' | 'theirs',
): Draft<Value> | undefined {
  if (draft === undefined) return undefined;
  const given = keep === 'mine' ? [] : changedMeanwhile(draft, stored);
  const kept = keysOf<Value>(draft.changes).filter((key) => !given.includes(key));
  const changes = Object.fromEntries(kept.map((key) => [key, draft.changes[key]])) as Partial<Value>;
  return withChange({ base: stored, changes }, stored, {});
}
