import type { ContractInterface, IpAllowlist, Policy, VelocityControl } from '../../core/model.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import { times } from '../../lib/render-times.ts';

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
