import type { Decision } from '@custos/server/policy';
import { type Cursor, required } from './cursor.ts';
import type { NamedPolicy } from './policies.ts';

const DECISIONS = ['ALLOW', 'DENY', 'DENY_EXPLICIT', 'DENY_IMPLICIT', 'REQUIRES_CONSENSUS'] as const;
const OUTCOMES = ['ALLOW', 'DENY_EXPLICIT', 'DENY_IMPLICIT', 'REQUIRES_CONSENSUS', 'ERROR', 'TIME_INACTIVE'] as const;

/** What a case expects; what it does not say may be anything. */
export interface Expectation {
  /** DENY is either of the two denials. */
  readonly decision: (typeof DECISIONS)[number];
  readonly reason?: string;
  /** The policies that decide: these and no others. */
  readonly decidingPolicyIds?: readonly string[];
  readonly outcomes: readonly { readonly policyId: string; readonly outcome: (typeof OUTCOMES)[number] }[];
}

export function readExpectation(cursor: Cursor, policies: readonly NamedPolicy[]): Expectation {
  if (typeof cursor.value === 'string') return { decision: cursor.oneOf('"expect"', DECISIONS), outcomes: [] };
  const members = cursor.members('"expect"', ['decision', 'reason', 'decidedBy', 'outcomes']);
  const find = (item: Cursor, name: string): string =>
    policies.find((policy) => policy.name === name || policy.id === name)?.id ??
    item.fail(`there is no policy ${JSON.stringify(name)}`);
  const deciding = members.decidedBy?.items('"decidedBy"').map((item) => find(item, item.text('a policy')));
  const outcomes = (members.outcomes?.entries('"outcomes"') ?? []).map(([name, item]) => ({
    policyId: find(item, name),
    outcome: item.oneOf('an outcome', OUTCOMES),
  }));
  const reason = members.reason?.text('"reason"');
  return {
    decision: required(cursor, members, 'decision').oneOf('"decision"', DECISIONS),
    ...(reason !== undefined && { reason }),
    ...(deciding !== undefined && { decidingPolicyIds: deciding }),
    outcomes,
  };
}

export const shortOutcome = (outcome: string): string => outcome.replace(/^OUTCOME_/, '');

/** How a decision differs from what was expected, one line each. */
export function differences(
  expected: Expectation,
  decision: Decision,
  nameOf: (policyId: string) => string,
): readonly string[] {
  const lines: string[] = [];
  const actual = shortOutcome(decision.outcome);
  if (actual !== expected.decision && !(expected.decision === 'DENY' && actual.startsWith('DENY_'))) {
    lines.push(`expected ${expected.decision}, got ${actual} (${decision.reason})`);
  }
  if (expected.reason !== undefined && expected.reason !== decision.reason) {
    lines.push(`expected the reason ${expected.reason}, got ${decision.reason}`);
  }
  if (expected.decidingPolicyIds !== undefined) {
    const wanted = listed(expected.decidingPolicyIds, nameOf);
    const deciding = listed(decision.decidingPolicyIds, nameOf);
    if (wanted !== deciding) lines.push(`expected ${wanted} to decide, but ${deciding} did`);
  }
  for (const { policyId, outcome } of expected.outcomes) {
    const found = decision.evaluations.find((evaluation) => evaluation.policyId === policyId)?.outcome;
    const came = found === undefined ? 'was not evaluated' : `came to ${shortOutcome(found)}`;
    if (found !== `OUTCOME_${outcome}`)
      lines.push(`expected policy '${nameOf(policyId)}' to come to ${outcome}, it ${came}`);
  }
  return lines;
}

const listed = (policyIds: readonly string[], nameOf: (policyId: string) => string): string =>
  policyIds.length === 0
    ? 'no policy'
    : [...new Set(policyIds)]
        .map((policyId) => `'${nameOf(policyId)}'`)
        .sort()
        .join(', ');
