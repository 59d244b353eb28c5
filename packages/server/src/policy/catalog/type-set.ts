import { GOVERNED_TYPES, type GovernedType } from './activity-facts.ts';

/**
 * A set of activity types as bits: one for each governed type of the table, and one for all types that are not in it.
 */
export type TypeSet = bigint;

export const NO_TYPES: TypeSet = 0n;
/** Types that the table does not know; nothing is assumed about them. */
export const OTHER_TYPES: TypeSet = 1n << BigInt(GOVERNED_TYPES.length);
export const ALL_TYPES: TypeSet = (OTHER_TYPES << 1n) - 1n;

/** How a condition may tell activity types apart. */
export type TypeFact = 'type' | 'kind' | 'resource' | 'action';
export const isTypeFact = (name: string): name is TypeFact =>
  name === 'type' || name === 'kind' || name === 'resource' || name === 'action';

const setOf = (indexes: Iterable<number>): TypeSet => {
  let set = NO_TYPES;
  for (const index of indexes) set |= 1n << BigInt(index);
  return set;
};

const BY_FACT: Readonly<Record<TypeFact, ReadonlyMap<string, TypeSet>>> = {
  type: groupTypes('type'),
  kind: groupTypes('kind'),
  resource: groupTypes('resource'),
  action: groupTypes('action'),
};

function groupTypes(fact: TypeFact): ReadonlyMap<string, TypeSet> {
  const sets = new Map<string, TypeSet>();
  for (const [index, row] of GOVERNED_TYPES.entries()) {
    sets.set(row[fact], (sets.get(row[fact]) ?? NO_TYPES) | setOf([index]));
  }
  return sets;
}

/** The types of the table for which the fact has this value. */
export const typesWith = (fact: TypeFact, value: string): TypeSet => BY_FACT[fact].get(value) ?? NO_TYPES;

export const isKnownValue = (fact: TypeFact, value: string): boolean => BY_FACT[fact].has(value);
export const valuesOf = (fact: TypeFact): readonly string[] => [...BY_FACT[fact].keys()];

/** The set that holds one activity. Facts that differ from the table's are not the table's type. */
export function typeSetOf(activity: Readonly<Record<TypeFact, string>>): TypeSet {
  const index = GOVERNED_TYPES.findIndex((row) => row.type === activity.type);
  const row = GOVERNED_TYPES[index];
  const agrees =
    row !== undefined &&
    row.kind === activity.kind &&
    row.resource === activity.resource &&
    row.action === activity.action;
  return agrees ? setOf([index]) : OTHER_TYPES;
}

/** The types of the table in a set. */
export const typesIn = (set: TypeSet): readonly GovernedType[] =>
  GOVERNED_TYPES.filter((_row, index) => ((set >> BigInt(index)) & 1n) === 1n);
