import { randomBytes } from 'node:crypto';
import type { TestClient } from '../harness/client.ts';

// Rules of every kind that stop nobody in these tests: each is about an activity that nobody does here.

const ELSEWHERE = "activity.type == 'ACTIVITY_TYPE_CREATE_INVITATIONS' && activity.resource == 'WALLET'";

/** A deny rather than an allow: spoiled on purpose it may concern everything, and must not open anything. */
export const policyParams = (policyName: string) => ({
  policyName,
  effect: 'EFFECT_DENY',
  condition: ELSEWHERE,
  consensus: 'approvers.count() >= 1',
  notes: policyName,
  time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')",
});
export const newPolicy = async (client: TestClient, name: string): Promise<string> =>
  (await client.run('create_policy', policyParams(name))).policyId;

export const mfaParams = (mfaPolicyName: string) => ({
  mfaPolicyName,
  condition: ELSEWHERE,
  requiredAuthenticationMethods: [
    { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY', id: '00000000-0000-4000-8000-000000000001' }] },
  ],
  order: 1,
  notes: mfaPolicyName,
});
export const newMfaPolicy = async (client: TestClient, userId: string, name: string): Promise<string> =>
  (await client.run('create_mfa_policy', { userId, ...mfaParams(name) })).mfaPolicyId;

export const profileParams = (sessionProfileName: string) => ({
  sessionProfileName,
  scope: ELSEWHERE,
  expirationSeconds: '900',
  notes: sessionProfileName,
});
export const newSessionProfile = async (client: TestClient, name: string): Promise<string> =>
  (await client.run('create_session_profile', profileParams(name))).sessionProfileId;

export const allowlistParams = (label: string) => ({
  rules: [{ cidr: '127.0.0.0/8', label }],
  onEvaluationError: 'DENY',
  allowLockout: false,
});

export const contractParams = (label: string) => ({
  smartContractAddress: `0x${randomBytes(20).toString('hex')}`,
  smartContractInterface: '[{"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"}]}]',
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  label,
  notes: label,
});
export const newContractInterface = async (client: TestClient, label: string): Promise<string> =>
  (await client.run('create_smart_contract_interface', contractParams(label))).smartContractInterfaceId;

export const controlParams = (name: string) => ({
  name,
  dataSource: {
    chainAssetTransfer: {
      definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }],
      filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }] },
      phase: { signature: {} },
    },
  },
  aggregation: {
    method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
    operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
    threshold: '1000000',
    window: { rolling: { duration: '24h' } },
    groupBy: { organization: {} },
  },
  identifier: name,
});
export const newVelocityControl = async (client: TestClient, name: string): Promise<string> =>
  (await client.run('create_velocity_control', controlParams(name))).velocityControlId;
