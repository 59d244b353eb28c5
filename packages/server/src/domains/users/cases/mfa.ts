import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { idleMfaParams, newIdleMfaPolicy } from '../../../../test/fixtures/rules.ts';
import { createUser, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  anId,
  ELSEWHERE,
  keep,
  keptOf,
  notFound,
  PAGE_INFO,
  TIMES,
  type World,
} from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../../test/operations/tenant.ts';

const STEPS = [
  { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
  { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY', id: '22222222-2222-4222-8222-222222222222' }] },
];

const mfaParams = (extra: Record<string, unknown> = {}) => ({
  mfaPolicyName: `MFA ${randomUUID()}`,
  condition: ELSEWHERE,
  requiredAuthenticationMethods: STEPS,
  order: 3,
  notes: 'because',
  ...extra,
});

const anMfaPolicy = (params: Record<string, unknown>) => ({ mfaPolicyId: anId, ...params, ...TIMES });

/** The MFA policies of a user, which its record shows too. */
async function mfaPolicies(reader: TestClient, userId: string) {
  const { mfaPolicies: listed } = (await reader.query('get_mfa_policies', { userId })).body;
  expect((await reader.query('get_user', { userId })).body.user.mfaPolicies).toEqual(listed);
  return listed;
}

const newMfaPolicy = async (client: TestClient, userId: string, extra: Record<string, unknown> = {}): Promise<string> =>
  (await client.run('create_mfa_policy', { userId, ...mfaParams(extra) })).mfaPolicyId;

/** An activity of the root user that has the first of the proofs that it needs. */
async function unprovenActivity({ root }: World): Promise<string> {
  const condition = "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_EMAIL'";
  await newMfaPolicy(root, root.userId, { condition });
  const { body } = await root.submit('update_user_email', { userId: root.userId, userEmail: 'root@example.com' });
  return body.activity.id;
}

/** A user for whom an MFA policy may be spoiled: it does nothing. */
const idleUser = async (tenant: Tenant): Promise<string> => (await createUser(tenant.root, fresh(tenant))).userId;

export const mfaCases: DomainCases = {
  create_mfa_policy: {
    activity: {
      intentKey: 'createMfaPolicyIntent',
      resultKey: 'createMfaPolicyResult',
      arrange: async ({ plain: { userId } }) => {
        const params = mfaParams();
        return {
          parameters: { userId, ...params },
          result: { mfaPolicyId: anId },
          holds: async (reader) => expect(await mfaPolicies(reader, userId)).toEqual([anMfaPolicy(params)]),
          absent: async (reader) => expect(await mfaPolicies(reader, userId)).toEqual([]),
        };
      },
      foreign: async (_world, { plain }) => notFound({ userId: plain.userId, ...mfaParams() }),
    },
    hostile: byRoot(async (tenant) => ({ userId: await idleUser(tenant), ...idleMfaParams(fresh(tenant)) })),
    ids: { 'requiredAuthenticationMethods.0.any.0.id': ['authenticator'] },
  },
  update_mfa_policy: {
    activity: {
      intentKey: 'updateMfaPolicyIntent',
      resultKey: 'updateMfaPolicyResult',
      arrange: async ({ root, plain: { userId } }) => {
        const before = mfaParams();
        const mfaPolicyId = await newMfaPolicy(root, userId, before);
        const change = { requiredAuthenticationMethods: STEPS.slice(0, 1), order: 0 };
        return {
          parameters: { userId, mfaPolicyId, ...change },
          result: { mfaPolicyId },
          holds: async (reader) =>
            expect(await mfaPolicies(reader, userId)).toEqual([anMfaPolicy({ ...before, ...change })]),
          absent: async (reader) => expect(await mfaPolicies(reader, userId)).toEqual([anMfaPolicy(before)]),
        };
      },
      foreign: async ({ root, plain }) => {
        // Of another user of the same organization is no better.
        const mfaPolicyId = await newMfaPolicy(root, plain.userId);
        return notFound({ userId: root.userId, mfaPolicyId, order: 1 });
      },
    },
    hostile: byRoot(async (tenant) => {
      const userId = await idleUser(tenant);
      const mfaPolicyId = await newIdleMfaPolicy(tenant.root, userId, fresh(tenant));
      return { userId, mfaPolicyId, ...idleMfaParams(fresh(tenant)) };
    }),
    ids: { 'requiredAuthenticationMethods.0.any.0.id': ['authenticator'] },
  },
  delete_mfa_policy: {
    activity: {
      intentKey: 'deleteMfaPolicyIntent',
      resultKey: 'deleteMfaPolicyResult',
      arrange: async ({ root, plain: { userId } }) => {
        const mfaPolicyId = await newMfaPolicy(root, userId);
        return {
          parameters: { userId, mfaPolicyId },
          result: { mfaPolicyId },
          holds: async (reader) => expect(await mfaPolicies(reader, userId)).toEqual([]),
          absent: async (reader) => expect(await mfaPolicies(reader, userId)).toHaveLength(1),
        };
      },
      foreign: async (_world, { root, plain }) =>
        notFound({ userId: plain.userId, mfaPolicyId: await newMfaPolicy(root, plain.userId) }),
    },
    hostile: byRoot(async (tenant) => {
      const userId = await idleUser(tenant);
      return { userId, mfaPolicyId: await newIdleMfaPolicy(tenant.root, userId, fresh(tenant)) };
    }),
  },
  get_mfa_policy: {
    query: {
      parameters: async (world) => {
        const { userId } = world.plain;
        return { userId, mfaPolicyId: await newMfaPolicy(world.root, userId, keep(world, mfaParams())) };
      },
      answer: (world) => ({ mfaPolicy: anMfaPolicy(keptOf(world)) }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId, mfaPolicyId: tenant.ids.mfaPolicy })),
  },
  get_mfa_policies: {
    query: {
      parameters: async (world) => {
        const { userId } = world.plain;
        await newMfaPolicy(world.root, userId, keep(world, mfaParams({ order: 2 })));
        await newMfaPolicy(world.root, userId, { mfaPolicyName: 'First', order: 1 });
        return { userId };
      },
      answer: (world) => ({
        mfaPolicies: [
          anMfaPolicy({ ...mfaParams(), mfaPolicyName: 'First', order: 1 }),
          anMfaPolicy({ ...mfaParams(), ...keptOf(world) }),
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId })),
  },
  get_mfa_status: {
    query: {
      parameters: async (world) => ({ activityId: await unprovenActivity(world) }),
      answer: ({ root }) => ({
        mfaStatuses: [
          {
            mfaPolicyId: anId,
            userId: root.userId,
            satisfied: false,
            satisfiedMethods: [{ type: 'AUTHENTICATION_TYPE_API_KEY', id: anId }],
            requiredMethods: STEPS,
          },
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ activityId: tenant.ids.activity, userId: tenant.second.userId })),
  },
};
