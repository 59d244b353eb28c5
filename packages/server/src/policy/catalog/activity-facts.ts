import { ACTIVITY_TYPES, type ActivityTypeFacts, KINDS } from './activity-types.ts';
import type { KindFacts } from './kind-facts.ts';
import type { Alternatives } from './namespaces.ts';

const BY_KIND: ReadonlyMap<string, KindFacts> = new Map(KINDS.map((facts) => [facts.kind, facts]));

/** Which parameters an activity type exposes (protocol/policy-facts 2). */
export function paramsOf(type: string, kind: string): readonly string[] {
  const { params = [], paramsByType = {} } = BY_KIND.get(kind) ?? {};
  return Object.hasOwn(paramsByType, type) ? (paramsByType[type] ?? []) : params;
}

export const namespacesOf = (kind: string): Alternatives => BY_KIND.get(kind)?.namespaces ?? [[]];

/** Whether it signs bytes that nobody can read: whoever may do this may sign any transaction. */
export const signsRaw = (kind: string): boolean => BY_KIND.get(kind)?.signsRaw === true;

export type GovernedType = Extract<ActivityTypeFacts, { readonly governedBy: 'policy' }>;

/** The types that policies govern, each with a number: the place of its bit in a set of types. */
export const GOVERNED_TYPES: readonly GovernedType[] = ACTIVITY_TYPES.filter((row) => row.governedBy === 'policy');
