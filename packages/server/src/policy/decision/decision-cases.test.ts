import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type ActivityFacts,
  type Approval,
  activityType,
  createExpressionCache,
  decide,
  factsFromJson,
  type Member,
  type Policy,
  preparePolicies,
} from '../index.ts';

interface CaseActivity {
  readonly type: string;
  readonly kind: string;
  readonly resource: string;
  readonly action: string;
  readonly params?: { readonly user_id?: string };
  readonly context?: object;
}

interface DecisionCase {
  readonly id: string;
  readonly note?: string;
  readonly org: {
    readonly users: readonly { readonly id: string; readonly tags: readonly string[] }[];
    readonly root: { readonly threshold: number; readonly userIds: readonly string[] };
  };
  readonly policies: readonly Policy[];
  readonly activity: CaseActivity;
  readonly now: string;
  readonly steps: readonly {
    readonly vote: { readonly user: string; readonly credType?: string };
    readonly final: string;
    readonly perPolicy: Readonly<Record<string, string>>;
  }[];
}

const { decisionCases } = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/policy-cases.json', import.meta.url), 'utf8'),
) as { decisionCases: DecisionCase[] };

const apiKeyOf = (userId: string, type = 'CREDENTIAL_TYPE_API_KEY_P256') => ({
  id: `${type} of ${userId}`,
  user_id: userId,
  type,
  credential_id: '',
  public_key: '',
});

const memberOf = ({ id, tags }: { id: string; tags: readonly string[] }): Member => ({
  id,
  tags,
  email: '',
  alias: id,
  credentials: [apiKeyOf(id)],
});

function activityOf({ context, params = {}, ...names }: CaseActivity): ActivityFacts {
  if (activityType(names.type)?.governedBy !== 'policy') return { governedBy: 'rootQuorum', type: names.type };
  const { activity, ...namespaces } = factsFromJson('condition', { ...context, activity: { params } });
  return {
    governedBy: 'policy',
    ...names,
    params: activity?.params ?? {},
    elements: [namespaces],
    subjectUserId: params.user_id,
  };
}

test.each(decisionCases)('$id: $note', (row) => {
  const policies = preparePolicies(row.policies, createExpressionCache());
  const approvals: Approval[] = [];
  for (const [index, { vote, final, perPolicy }] of row.steps.entries()) {
    approvals.push({ userId: vote.user, credential: apiKeyOf(vote.user, vote.credType) });
    const input = {
      organization: { id: 'o', rootThreshold: row.org.root.threshold, rootUserIds: row.org.root.userIds },
      activity: activityOf(row.activity),
      policies,
      members: row.org.users.map(memberOf),
      approvals,
      phase: index === 0 ? 'SUBMISSION' : 'VOTE',
      nowMs: Date.parse(row.now),
    } as const;
    const decision = decide(input);
    const outcomes = decision.evaluations.map(({ policyId, outcome }) => [policyId, outcome]);
    expect({ final: decision.outcome, perPolicy: Object.fromEntries(outcomes) }).toEqual({ final, perPolicy });
    // The same decision when only the policies that can concern the activity are looked at, and when it is explained.
    expect(decide(input, { listAll: false })).toMatchObject({ outcome: final, reason: decision.reason });
    expect(decide(input, { trace: true })).toMatchObject({ outcome: final, reason: decision.reason });
  }
});

test('the cases are the published ones', () => {
  expect(decisionCases).toHaveLength(30);
});
