import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestClient } from '../../harness/client.ts';
import {
  type ActivityCase,
  type Arranged,
  anId,
  notFound,
  PAGE_INFO,
  type QueryCase,
  TIMESTAMP,
  type World,
} from './case.ts';

// Policies, MFA, session profiles, IP allowlists, contract interfaces and velocity controls in the table of every
// operation.

const TIMES = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };

/** About an activity that no test here does, so that it has no say in any of them. */
const ELSEWHERE = "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS'";

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

const policies = async (reader: TestClient) => (await reader.query('list_policies')).body.policies;
const newPolicy = async (client: TestClient, extra: Record<string, unknown> = {}): Promise<string> =>
  (await client.run('create_policy', policyParams(extra))).policyId;

/** Something that is there before and not after. */
function gone(query: string, parameters: Record<string, unknown>): Pick<Arranged, 'holds' | 'absent'> {
  const status = async (reader: TestClient) => (await reader.query(query, parameters)).status;
  return {
    holds: async (reader) => expect(await status(reader)).toBe(404),
    absent: async (reader) => expect(await status(reader)).toBe(200),
  };
}

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

const profileParams = () => ({
  sessionProfileName: `Profile ${randomUUID()}`,
  scope: ELSEWHERE,
  expirationSeconds: '900',
  notes: 'because',
});
const newProfile = async ({ parent }: World): Promise<string> =>
  (await parent.run('create_session_profile', profileParams())).sessionProfileId;

const allowlist = async (reader: TestClient, publicKey?: string) =>
  (await reader.query('get_ip_allowlist', { publicKey })).body.allowlist;
const noAllowlist = ({ organizationId }: TestClient) => ({
  organizationId,
  rules: [],
  enabled: false,
  onEvaluationError: 'DENY',
});
/** Blocks with host bits, and one of them twice. */
const RULES = [
  { cidr: '127.0.0.9/8', label: 'here' },
  { cidr: '::1' },
  { cidr: '2001:db8::ffff/32' },
  { cidr: '127.9.9.9/8', label: 'again' },
];
const STORED_RULES = [{ cidr: '127.0.0.0/8', label: 'here' }, { cidr: '::1/128' }, { cidr: '2001:db8::/32' }].map(
  (rule) => ({ ...rule, createdAt: expect.stringMatching(/^\d{13}$/) }),
);

const ABI = JSON.stringify([
  { type: 'function', name: 'transfer', inputs: [{ name: 'to', type: 'address' }], outputs: [] },
]);
const contractParams = () => ({
  smartContractAddress: `0xAb${randomUUID().replaceAll('-', '')}AbAbAb`,
  smartContractInterface: ABI,
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  label: 'Token',
  notes: 'because',
});
const aContract = ({ organizationId }: TestClient, params: Record<string, unknown>) => ({
  organizationId,
  smartContractInterfaceId: anId,
  ...params,
  ...TIMES,
});
const contracts = async (reader: TestClient) =>
  (await reader.query('list_smart_contract_interfaces')).body.smartContractInterfaces;
const newContract = async (client: TestClient): Promise<string> =>
  (await client.run('create_smart_contract_interface', contractParams())).smartContractInterfaceId;

const controlParams = () => ({
  name: 'Ether',
  dataSource: {
    chainAssetTransfer: {
      definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }],
      filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }] },
      phase: { signature: {} },
    },
  },
  aggregation: {
    method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
    operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
    threshold: '1.5',
    window: { rolling: { duration: '24h' } },
    groupBy: { wallet: {} },
  },
  identifier: `ether ${randomUUID()}`,
});
const aControl = ({ organizationId }: TestClient, params: Record<string, unknown>) => ({
  velocityControlId: anId,
  organizationId,
  ...params,
  ...TIMES,
});
const controls = async (reader: TestClient) => (await reader.query('list_velocity_controls')).body.velocityControls;
const newControl = async (client: TestClient): Promise<string> =>
  (await client.run('create_velocity_control', controlParams())).velocityControlId;

export const ACCESS_CASES: Readonly<Record<string, ActivityCase>> = {
  create_policy: {
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
  create_policies: {
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
  update_policy: {
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
  delete_policy: {
    intentKey: 'deletePolicyIntent',
    resultKey: 'deletePolicyResult',
    arrange: async ({ root }) => {
      const policyId = await newPolicy(root);
      return { parameters: { policyId }, result: { policyId }, ...gone('get_policy', { policyId }) };
    },
    foreign: async (_world, other) => notFound({ policyId: await newPolicy(other.root) }),
  },
  delete_policies: {
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
  create_mfa_policy: {
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
  update_mfa_policy: {
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
  delete_mfa_policy: {
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
  create_session_profile: {
    place: 'parent',
    intentKey: 'createSessionProfileIntent',
    resultKey: 'createSessionProfileResult',
    arrange: async () => {
      const params = profileParams();
      const found = async (reader: TestClient) =>
        (await reader.query('get_session_profiles')).body.sessionProfiles.filter(
          (profile: { sessionProfileName: string }) => profile.sessionProfileName === params.sessionProfileName,
        );
      return {
        parameters: params,
        result: { sessionProfileId: anId },
        holds: async (reader) => expect(await found(reader)).toEqual([{ sessionProfileId: anId, ...params, ...TIMES }]),
        absent: async (reader) => expect(await found(reader)).toEqual([]),
      };
    },
  },
  set_ip_allowlist: {
    intentKey: 'setIpAllowlistIntent',
    resultKey: 'setIpAllowlistResult',
    arrange: async ({ root }) => ({
      parameters: { enabled: true, rules: RULES, onEvaluationError: 'ALLOW' },
      result: {},
      holds: async (reader) =>
        expect(await allowlist(reader)).toEqual({
          organizationId: root.organizationId,
          rules: STORED_RULES,
          enabled: true,
          onEvaluationError: 'ALLOW',
        }),
      absent: async (reader) => expect(await allowlist(reader)).toEqual(noAllowlist(root)),
    }),
    foreign: async (_world, other) => {
      const { publicKey } = other.plain.key;
      // Their own key is theirs to limit.
      await other.root.run('set_ip_allowlist', { publicKey, rules: RULES });
      return notFound({ publicKey, rules: [] });
    },
  },
  remove_ip_allowlist: {
    intentKey: 'removeIpAllowlistIntent',
    resultKey: 'removeIpAllowlistResult',
    arrange: async ({ root, plain }) => {
      const { publicKey } = plain.key;
      const { organizationId } = root;
      await root.run('set_ip_allowlist', { publicKey: publicKey.toUpperCase(), rules: RULES });
      const empty = { organizationId, rules: [], publicKey, onEvaluationError: 'DENY' };
      return {
        parameters: { publicKey },
        result: {},
        holds: async (reader) => expect(await allowlist(reader, publicKey)).toEqual(empty),
        absent: async (reader) => expect(await allowlist(reader, publicKey)).toEqual({ ...empty, rules: STORED_RULES }),
      };
    },
  },
  create_smart_contract_interface: {
    intentKey: 'createSmartContractInterfaceIntent',
    resultKey: 'createSmartContractInterfaceResult',
    arrange: async ({ root }) => {
      const params = contractParams();
      return {
        parameters: params,
        result: { smartContractInterfaceId: anId },
        holds: async (reader) => expect(await contracts(reader)).toEqual([aContract(root, params)]),
        absent: async (reader) => expect(await contracts(reader)).toEqual([]),
      };
    },
  },
  delete_smart_contract_interface: {
    intentKey: 'deleteSmartContractInterfaceIntent',
    resultKey: 'deleteSmartContractInterfaceResult',
    arrange: async ({ root }) => {
      const parameters = { smartContractInterfaceId: await newContract(root) };
      return { parameters, result: parameters, ...gone('get_smart_contract_interface', parameters) };
    },
    foreign: async (_world, other) => notFound({ smartContractInterfaceId: await newContract(other.root) }),
  },
  create_velocity_control: {
    intentKey: 'createVelocityControlIntent',
    resultKey: 'createVelocityControlResult',
    arrange: async ({ root }) => {
      const params = controlParams();
      return {
        parameters: params,
        result: { velocityControlId: anId },
        holds: async (reader) => expect(await controls(reader)).toEqual([aControl(root, params)]),
        absent: async (reader) => expect(await controls(reader)).toEqual([]),
      };
    },
  },
  delete_velocity_control: {
    intentKey: 'deleteVelocityControlIntent',
    resultKey: 'deleteVelocityControlResult',
    arrange: async ({ root }) => {
      const parameters = { velocityControlId: await newControl(root) };
      return { parameters, result: parameters, ...gone('get_velocity_control', parameters) };
    },
    foreign: async (_world, other) => notFound({ velocityControlId: await newControl(other.root) }),
  },
};

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

/** An activity of the root user that has the first of the proofs that it needs. */
async function unprovenActivity({ root }: World): Promise<string> {
  const condition = "activity.type == 'ACTIVITY_TYPE_UPDATE_USER_EMAIL'";
  await newMfaPolicy(root, root.userId, { condition });
  const { body } = await root.submit('update_user_email', { userId: root.userId, userEmail: 'root@example.com' });
  return body.activity.id;
}

/** What the cases below have made, for the answers that show it. */
const made = new WeakMap<World, Record<string, unknown>>();
async function keep(world: World, params: Record<string, unknown>): Promise<Record<string, unknown>> {
  made.set(world, params);
  return params;
}
const keptOf = (world: World): Record<string, unknown> => made.get(world) ?? {};

export const ACCESS_QUERIES: Readonly<Record<string, QueryCase>> = {
  get_policy: {
    parameters: async (world) => ({ policyId: await newPolicy(world.root, await keep(world, policyParams())) }),
    answer: (world) => ({ policy: aPolicy(keptOf(world)) }),
  },
  list_policies: {
    parameters: async (world) => {
      await newPolicy(world.root, await keep(world, policyParams()));
      return {};
    },
    answer: (world) => ({ policies: [aPolicy(keptOf(world))], pageInfo: PAGE_INFO }),
  },
  get_active_policies: {
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
  get_policy_evaluations: {
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
            },
          ],
          createdAt: TIMESTAMP,
        },
      ],
      pageInfo: PAGE_INFO,
    }),
  },
  simulate_activity: {
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
          },
        ],
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
  get_mfa_policy: {
    parameters: async (world) => {
      const { userId } = world.plain;
      return { userId, mfaPolicyId: await newMfaPolicy(world.root, userId, await keep(world, mfaParams())) };
    },
    answer: (world) => ({ mfaPolicy: anMfaPolicy(keptOf(world)) }),
  },
  get_mfa_policies: {
    parameters: async (world) => {
      const { userId } = world.plain;
      await newMfaPolicy(world.root, userId, await keep(world, mfaParams({ order: 2 })));
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
  get_mfa_status: {
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
  get_session_profile: {
    // A parent's profiles are those of its whole tree.
    foreignStatus: 200,
    parameters: async (world) => ({ sessionProfileId: await newProfile(world) }),
    answer: () => ({
      sessionProfile: {
        sessionProfileId: anId,
        ...profileParams(),
        sessionProfileName: expect.stringMatching(/^Profile /),
        ...TIMES,
      },
    }),
  },
  get_session_profiles: {
    parameters: async (world) => {
      await newProfile(world);
      return {};
    },
    answer: () => ({
      sessionProfiles: expect.arrayContaining([
        {
          sessionProfileId: anId,
          ...profileParams(),
          sessionProfileName: expect.stringMatching(/^Profile /),
          ...TIMES,
        },
      ]),
      pageInfo: PAGE_INFO,
    }),
  },
  get_ip_allowlist: {
    parameters: async ({ root }) => {
      await root.run('set_ip_allowlist', { enabled: false, rules: RULES });
      return {};
    },
    answer: ({ root }) => ({ allowlist: { ...noAllowlist(root), rules: STORED_RULES } }),
  },
  get_smart_contract_interface: {
    parameters: async ({ root }) => ({ smartContractInterfaceId: await newContract(root) }),
    answer: ({ root }) => ({
      smartContractInterface: aContract(root, {
        ...contractParams(),
        smartContractAddress: expect.stringMatching(/^0xAb/),
      }),
    }),
  },
  list_smart_contract_interfaces: {
    parameters: async ({ root }) => {
      await newContract(root);
      return {};
    },
    answer: () => ({ smartContractInterfaces: [expect.objectContaining({ label: 'Token' })], pageInfo: PAGE_INFO }),
  },
  get_velocity_control: {
    parameters: async ({ root }) => ({ velocityControlId: await newControl(root) }),
    answer: ({ root }) => ({
      velocityControl: aControl(root, { ...controlParams(), identifier: expect.stringMatching(/^ether /) }),
    }),
  },
  list_velocity_controls: {
    parameters: async ({ root }) => {
      await newControl(root);
      return {};
    },
    answer: () => ({ velocityControls: [expect.objectContaining({ name: 'Ether' })], pageInfo: PAGE_INFO }),
  },
};
