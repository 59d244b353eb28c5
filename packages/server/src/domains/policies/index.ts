import { ContractInterfaces } from '../../chains/send/sends.ts';
import {
  Allowlists,
  Evaluations,
  NewEvaluations,
  Policies,
  VelocityControls,
  VelocityCounts,
} from '../../core/rules.ts';
import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { names } from './names.ts';
import { createPolicies } from './operations/create-policies.ts';
import { createPolicy } from './operations/create-policy.ts';
import { createSmartContractInterface } from './operations/create-smart-contract-interface.ts';
import { createVelocityControl } from './operations/create-velocity-control.ts';
import { deletePolicies } from './operations/delete-policies.ts';
import { deletePolicy } from './operations/delete-policy.ts';
import { deleteSmartContractInterface } from './operations/delete-smart-contract-interface.ts';
import { deleteVelocityControl } from './operations/delete-velocity-control.ts';
import { describePolicies } from './operations/describe-policies.ts';
import { describePolicy } from './operations/describe-policy.ts';
import { getActivePolicies } from './operations/get-active-policies.ts';
import { getIpAllowlist } from './operations/get-ip-allowlist.ts';
import { getPolicy } from './operations/get-policy.ts';
import { getPolicyEvaluations } from './operations/get-policy-evaluations.ts';
import { getSmartContractInterface } from './operations/get-smart-contract-interface.ts';
import { getVelocityControl } from './operations/get-velocity-control.ts';
import { listPolicies } from './operations/list-policies.ts';
import { listSmartContractInterfaces } from './operations/list-smart-contract-interfaces.ts';
import { listVelocityControls } from './operations/list-velocity-controls.ts';
import { listVelocityUsage } from './operations/list-velocity-usage.ts';
import { removeIpAllowlist } from './operations/remove-ip-allowlist.ts';
import { setIpAllowlist } from './operations/set-ip-allowlist.ts';
import { simulateActivity } from './operations/simulate-activity.ts';
import { updatePolicy } from './operations/update-policy.ts';
import { ContractInterfaceReader } from './store/contract-interfaces.ts';
import { NetworkReader } from './store/networks.ts';
import { PolicyReader, PolicyStore } from './store/policies.ts';
import { VelocityReader, VelocityStore } from './store/velocity.ts';
import { tables } from './tables.ts';

export const policies: Domain = {
  name: 'policies',
  operations: [
    createPolicies,
    createPolicy,
    createSmartContractInterface,
    createVelocityControl,
    deletePolicies,
    deletePolicy,
    deleteSmartContractInterface,
    deleteVelocityControl,
    describePolicies,
    describePolicy,
    getActivePolicies,
    getIpAllowlist,
    getPolicyEvaluations,
    getPolicy,
    getSmartContractInterface,
    getVelocityControl,
    listPolicies,
    listSmartContractInterfaces,
    listVelocityControls,
    listVelocityUsage,
    removeIpAllowlist,
    setIpAllowlist,
    simulateActivity,
    updatePolicy,
  ],
  tables,
  names,
  provides: [
    provide(ContractInterfaces, ContractInterfaceReader),
    provide(Policies, PolicyReader),
    provide(Evaluations, PolicyReader),
    provide(NewEvaluations, PolicyStore),
    provide(Allowlists, NetworkReader),
    provide(VelocityControls, VelocityReader),
    provide(VelocityCounts, VelocityStore),
  ],
};
