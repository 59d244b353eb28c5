import { toTimestamp } from '../lib/clock.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type {
  ContractInterface,
  IpAllowlist,
  MfaPolicy,
  MfaStep,
  Policy,
  SessionProfile,
  VelocityControl,
} from '../lib/model.ts';
import type { VoteEvaluation } from '../policy/index.ts';

const times = ({ createdAtMs, updatedAtMs }: { readonly createdAtMs: number; readonly updatedAtMs: number }) => ({
  createdAt: toTimestamp(createdAtMs),
  updatedAt: toTimestamp(updatedAtMs),
});

export const renderPolicy = (policy: Policy) => ({
  policyId: policy.id,
  policyName: policy.name,
  effect: policy.effect,
  ...times(policy),
  notes: policy.notes,
  consensus: policy.consensus,
  condition: policy.condition,
  ...(policy.time !== '' && { time: policy.time }),
});

export const renderSteps = (steps: readonly MfaStep[]) =>
  steps.map(({ any }) => ({ any: any.map((method) => ({ ...method })) }));

export const renderMfaPolicy = (policy: MfaPolicy) => ({
  mfaPolicyId: policy.id,
  mfaPolicyName: policy.name,
  condition: policy.condition,
  requiredAuthenticationMethods: renderSteps(policy.steps),
  order: policy.order,
  ...(policy.notes !== '' && { notes: policy.notes }),
  ...times(policy),
});

export const renderSessionProfile = (profile: SessionProfile) => ({
  sessionProfileId: profile.id,
  sessionProfileName: profile.name,
  scope: profile.scope,
  ...(profile.expirationSeconds !== undefined && { expirationSeconds: String(profile.expirationSeconds) }),
  ...(profile.notes !== '' && { notes: profile.notes }),
  ...times(profile),
});

export const renderContractInterface = (organizationId: OrganizationId, contract: ContractInterface) => ({
  organizationId,
  smartContractInterfaceId: contract.id,
  smartContractAddress: contract.address,
  smartContractInterface: contract.definition,
  type: contract.type,
  label: contract.label,
  notes: contract.notes,
  ...times(contract),
});

/** A list that was never set, or was removed, shows as one without rules. */
export const renderAllowlist = (
  organizationId: OrganizationId,
  publicKey: string | undefined,
  list: IpAllowlist | undefined,
) => ({
  organizationId,
  rules: (list?.rules ?? []).map(({ cidr, label, createdAtMs }) => ({
    cidr,
    ...(label !== undefined && { label }),
    createdAt: String(createdAtMs),
  })),
  ...(publicKey === undefined ? { enabled: list?.enabled ?? false } : { publicKey }),
  onEvaluationError: list?.onEvaluationError ?? 'DENY',
});

export const renderVelocityControl = (organizationId: OrganizationId, control: VelocityControl) => ({
  velocityControlId: control.id,
  organizationId,
  name: control.name,
  dataSource: control.dataSource,
  aggregation: control.aggregation,
  ...(control.refuseUncounted && { refuseUncounted: true }),
  ...times(control),
  identifier: control.identifier,
});

export const renderEvaluation = ({ trace, ...evaluation }: VoteEvaluation) => ({
  ...evaluation,
  ...(trace !== undefined && { trace: { ...trace, conditions: [...trace.conditions] } }),
});
