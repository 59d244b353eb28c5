import type { Direction, PolicyText } from './sentence.ts';

/** What a change of a policy does, as far as it can be told. */
export interface PolicyComparison {
  readonly direction: Direction;
  /** Clauses for the sentence, in lower case. */
  readonly changes: readonly string[];
}

/** The parts of a policy whose text decides. */
const EXPRESSIONS = ['condition', 'consensus', 'time'] as const;

/**
 * Whether a changed policy lets more happen. Where the texts alone do not tell, it is a change that somebody has to read:
 * this is the one place that compares policies, for sentences about requests and about drafts alike.
 */
export function comparePolicies(before: PolicyText, after: PolicyText): PolicyComparison {
  const directions: Direction[] = [];
  const changes: string[] = [];
  const isAllow = after.effect === 'EFFECT_ALLOW';
  if (before.effect !== after.effect) {
    directions.push(isAllow ? 'WIDEN' : 'NARROW');
    changes.push(isAllow ? 'it denied and now allows' : 'it allowed and now denies');
  }
  for (const name of EXPRESSIONS) {
    const [was, is] = [before[name].trim(), after[name].trim()];
    if (was === is) continue;
    const label = name === 'time' ? 'time' : name;
    if (is === '') {
      directions.push(isAllow ? 'WIDEN' : 'NARROW');
      changes.push(`it has no ${label} any more`);
    } else if (was === '') {
      directions.push(isAllow ? 'NARROW' : 'WIDEN');
      changes.push(`it gets a ${label}`);
    } else {
      directions.push('CHANGE');
      changes.push(`its ${label} is another`);
    }
  }
  const [first] = directions;
  const isOne = first !== undefined && directions.every((direction) => direction === first);
  return { direction: isOne ? first : 'CHANGE', changes };
}
