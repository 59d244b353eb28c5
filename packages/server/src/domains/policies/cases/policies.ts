import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { idlePolicyParams, newIdlePolicy } from '../../../../test/fixtures/rules.ts';
import type { TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  type Arranged,
  anId,
  ELSEWHERE,
  gone,
  keep,
  keptOf,
  notFound,
  PAGE_INFO,
  TIMES,
  TIMESTAMP,
  type World,
} from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';

const ALWAYS = "time.now > Timestamp('2001-01-01T00:00:00Z') || CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')";

const policyParams = (extra: Record<string, unknown> = {}) => ({
  policyName: `Policy ${randomUUID()}`,
  effect: 'EFFECT_ALLOW',
  condition: ELSEWHERE,
  consensus: "approvers.any(user, user.tags.contains('11111111-1111-4111-8111-111111111111'))",
  notes: 'because',
  ...extra,
});

const aPolicy = (params: Record<string, unknown>) => ({ policyId: anId, ...params, ...TIMES });

const aDescription = () => ({
  sentence: expect.arrayContaining([expect.objectContaining({ text: expect.any(String) })]),
  text: expect.stringMatching(/^Any.*\.$/),
  risk: expect.any(String),
  errors: [],
  warnings: expect.any(Array),
  marks: expect.any(Array),
});

const policies = async (reader: TestClient) => (await reader.query('list_policies')).body.policies;

const newPolicy = async (client: TestClient, extra: Record<string, unknown> = {}): Promise<string> =>
  (await client.run('create_policy', policyParams(extra))).policyId;

/** update_policy in either version. */
function changedPolicy(change: Record<string, string>) {
  return async ({ root }: World): Promise<Arranged> => {
    const before = { ...policyParams(), time: ALWAYS };
    const policyId = await newPolicy(root, before);
    const read = async (reader: TestClient) => (await reader.query('get_policy', { policyId })).body.policy;
    const { time, ...after } = {
      policyName: before.policyName,
      effect: change.policyEffect ?? before.effect,
      condition: change.policyCondition ?? before.condition,
      consensus: change.policyConsensus ?? before.consensus,
      notes: change.policyNotes ?? before.notes,
      time: change.time ?? before.time,
    };
    return {
      parameters: { policyId, ...change },
      result: { policyId, warnings: [] },
      // An expression that is cleared is shown as empty, a time that is cleared not at all.
      holds: async (reader) => expect(await read(reader)).toEqual(aPolicy({ ...after, ...(time !== '' && { time }) })),
      absent: async (reader) => expect(await read(reader)).toEqual(aPolicy(before)),
    };
  };
}

/** A policy that lets the plain user do one thing, and the activity that it let through. */
async function allowedActivity({ root, plain }: World): Promise<string> {
  await newPolicy(root, {
    policyName: 'Names',
    condition: "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_NAME'",
    consensus: `approvers.any(user, user.id == '${plain.userId}')`,
  });
  const { body } = await plain.submit('update_user_name', { userId: plain.userId, userName: 'plain' });
  return body.activity.id;
}

export const policyCases: DomainCases = {
  create_policy: {
    activity: {
      intentKey: 'createPolicyIntentV3',
      resultKey: 'createPolicyResult',
      arrange: async () => {
        const params = { ...policyParams(), time: ALWAYS };
        return {
          parameters: params,
          result: { policyId: anId, warnings: [] },
          holds: async (reader) => expect(await policies(reader)).toEqual([aPolicy(params)]),
          absent: async (reader) => expect(await policies(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot((tenant) => idlePolicyParams(fresh(tenant))),
  },
  create_policies: {
    activity: {
      intentKey: 'createPoliciesIntent',
      resultKey: 'createPoliciesResult',
      arrange: async () => {
        const params = [policyParams(), policyParams({ effect: 'EFFECT_DENY' })];
        const { condition: _condition, consensus: _consensus, ...bare } = policyParams({ effect: 'EFFECT_ALLOW' });
        return {
          parameters: { policies: [...params, bare] },
          result: { policyIds: [anId, anId, anId], warnings: expect.any(Array) },
          holds: async (reader) =>
            // An expression that was not given counts as true and is shown as empty (protocol/policies 1.3).
            expect(await policies(reader)).toEqual([...params, { ...bare, condition: '', consensus: '' }].map(aPolicy)),
          absent: async (reader) => expect(await policies(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot((tenant) => ({ policies: [idlePolicyParams(fresh(tenant))] })),
  },
  update_policy: {
    activity: {
      intentKey: 'updatePolicyIntentV2',
      resultKey: 'updatePolicyResultV2',
      arrange: changedPolicy({
        policyEffect: 'EFFECT_DENY',
        policyCondition: "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
        policyConsensus: '',
        policyNotes: '',
        time: '',
      }),
      legacy: {
        ACTIVITY_TYPE_UPDATE_POLICY: {
          intentKey: 'updatePolicyIntent',
          resultKey: 'updatePolicyResult',
          arrange: changedPolicy({ policyEffect: 'EFFECT_DENY', policyNotes: 'changed' }),
        },
      },
      foreign: async (_world, other) => notFound({ policyId: await newPolicy(other.root), policyNotes: 'x' }),
    },
    hostile: byRoot(async (tenant) => {
      const { effect, condition, consensus, notes, time } = idlePolicyParams(fresh(tenant));
      return {
        policyId: await newIdlePolicy(tenant.root, fresh(tenant)),
        policyName: fresh(tenant),
        policyEffect: effect,
        policyCondition: condition,
        policyConsensus: consensus,
        policyNotes: notes,
        time,
      };
    }),
  },
  delete_policy: {
    activity: {
      intentKey: 'deletePolicyIntent',
      resultKey: 'deletePolicyResult',
      arrange: async ({ root }) => {
        const policyId = await newPolicy(root);
        return { parameters: { policyId }, result: { policyId }, ...gone('get_policy', { policyId }) };
      },
      foreign: async (_world, other) => notFound({ policyId: await newPolicy(other.root) }),
    },
    hostile: byRoot(async (tenant) => ({ policyId: await newIdlePolicy(tenant.root, fresh(tenant)) })),
  },
  delete_policies: {
    activity: {
      intentKey: 'deletePoliciesIntent',
      resultKey: 'deletePoliciesResult',
      arrange: async ({ root }) => {
        const policyIds = [await newPolicy(root), await newPolicy(root)];
        return {
          parameters: { policyIds: [...policyIds, policyIds[0]] },
          result: { policyIds },
          holds: async (reader) => expect(await policies(reader)).toEqual([]),
          absent: async (reader) => expect(await policies(reader)).toHaveLength(2),
        };
      },
      foreign: async ({ root }, other) => notFound({ policyIds: [await newPolicy(root), await newPolicy(other.root)] }),
    },
    hostile: byRoot(async (tenant) => ({ policyIds: [await newIdlePolicy(tenant.root, fresh(tenant))] })),
  },
  get_policy: {
    query: {
      parameters: async (world) => ({ policyId: await newPolicy(world.root, keep(world, policyParams())) }),
      answer: (world) => ({ policy: aPolicy(keptOf(world)) }),
    },
    hostile: byRoot((tenant) => ({ policyId: tenant.ids.policy })),
  },
  list_policies: {
    query: {
      parameters: async (world) => {
        await newPolicy(world.root, keep(world, policyParams()));
        return {};
      },
      answer: (world) => ({ policies: [aPolicy(keptOf(world))], pageInfo: PAGE_INFO }),
    },
    hostile: byRoot(() => ({})),
  },
  get_active_policies: {
    query: {
      parameters: async ({ root }) => {
        await newPolicy(root);
        await newPolicy(root, { time: "time.now < Timestamp('2001-01-01T00:00:00Z')" });
        return {};
      },
      answer: ({ root: { organizationId } }) => ({
        statuses: [
          { organizationId, policyId: anId, active: true },
          { organizationId, policyId: anId, active: false, timeExpr: "time.now < Timestamp('2001-01-01T00:00:00Z')" },
        ],
        evaluatedAtMs: expect.stringMatching(/^\d{13}$/),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  describe_policy: {
    query: {
      parameters: async ({ root }) => ({ policyId: await newPolicy(root) }),
      answer: () => ({ description: { ...aDescription(), changes: [] } }),
    },
    hostile: byRoot((tenant) => {
      const { policyName, effect, condition, consensus, time } = idlePolicyParams(fresh(tenant));
      return { draft: { policyId: tenant.ids.policy, policyName, effect, condition, consensus, time } };
    }),
    // Either the stored policy or a draft; the draft names it here.
    ids: { policyId: [] },
  },
  describe_policies: {
    query: {
      parameters: async ({ root }) => {
        await newPolicy(root);
        return {};
      },
      answer: () => ({
        descriptions: [{ policyId: anId, ...aDescription(), changes: [] }],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ policyIds: [tenant.ids.policy] })),
    // What is elsewhere is left out, as what is nowhere.
    ids: { 'policyIds.0': [] },
  },
  get_policy_evaluations: {
    query: {
      parameters: async (world) => ({ activityId: await allowedActivity(world) }),
      answer: ({ root: { organizationId } }) => ({
        policyEvaluations: [
          {
            id: anId,
            activityId: anId,
            organizationId,
            voteId: anId,
            policyEvaluations: [
              {
                policyId: anId,
                outcome: 'OUTCOME_ALLOW',
                policyName: 'Names',
                effect: 'EFFECT_ALLOW',
                reason: expect.any(String),
                trace: expect.any(Object),
                explanation: {
                  sentence: [{ text: 'Its condition holds, and its approvals are complete.' }],
                  parts: [
                    { text: 'kind is “update user name”', holds: true, depth: 0 },
                    { text: 'one approver is plain', holds: true, depth: 0 },
                  ],
                },
              },
            ],
            explanation: {
              sentence: [{ text: 'Allowed by ' }, { text: 'Names', strong: true, userText: true }, { text: '.' }],
            },
            createdAt: TIMESTAMP,
          },
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity })),
  },
  simulate_activity: {
    query: {
      foreignStatus: 400,
      parameters: async ({ root, plain: { userId } }) => {
        const draftPolicies = [
          {
            effect: 'EFFECT_ALLOW',
            condition: "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_NAME'",
            consensus: `approvers.any(user, user.id == '${userId}')`,
          },
        ];
        const request = { type: 'ACTIVITY_TYPE_UPDATE_USER_NAME', parameters: { userId, userName: 'n' } };
        return { submitterUserId: userId, approverUserIds: [root.userId], request, draftPolicies };
      },
      answer: ({ root }) => ({
        simulation: {
          status: 'ACTIVITY_STATUS_COMPLETED',
          outcome: 'OUTCOME_ALLOW',
          reason: 'POLICY_ALLOWED',
          decidingPolicyIds: ['draft-0'],
          policyEvaluations: [
            {
              policyId: 'draft-0',
              outcome: 'OUTCOME_ALLOW',
              effect: 'EFFECT_ALLOW',
              reason: expect.any(String),
              trace: expect.any(Object),
              explanation: { sentence: expect.any(Array), parts: expect.any(Array) },
            },
          ],
          explanation: {
            sentence: [{ text: 'Allowed by ' }, { text: 'the draft', strong: true, userText: true }, { text: '.' }],
          },
          unconcernedCount: 0,
          ownAccountRule: expect.any(String),
          rootQuorum: { required: 1, given: expect.any(Number), isReachable: expect.any(Boolean) },
          openTo: { rootUserIds: expect.any(Array), policies: expect.any(Array) },
          // Nothing waits for anybody.
          refusedApproverUserIds: [root.userId],
          mfa: [],
          network: { isLimited: false },
          velocity: [],
        },
      }),
    },
    hostile: byRoot((tenant) => {
      const userId = tenant.second.userId;
      const { policyName, effect, condition, consensus, notes, time } = idlePolicyParams(fresh(tenant));
      return {
        request: {
          type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
          organizationId: tenant.ids.organization,
          parameters: { userId, userName: fresh(tenant) },
        },
        submitterUserId: userId,
        approverUserIds: [tenant.root.userId],
        atMs: '1767225600000',
        sourceAddress: '192.0.2.1',
        draftPolicies: [{ policyId: tenant.ids.policy, policyName, effect, condition, consensus, notes, time }],
      };
    }),
  },
};
